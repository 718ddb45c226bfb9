#include "xla_core/spmd/boundaries.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "xla_core/base/error.h"

namespace armillary {

std::vector<int64_t> ranks_of(const Shape& shape) {
  std::vector<int64_t> ranks;
  for (const Shape* leaf : leaves_of(shape)) ranks.push_back(static_cast<int64_t>(leaf->dims.size()));
  return ranks;
}

Boundaries::Boundaries(Module& m, Marks& marks)
    : m_(m), marks_(marks), meshes_(parse_meshes(m.frontend_attributes)) {}

bool Boundaries::replace_all() {
  bool changed = false;
  for (Computation* c : m_.reachable())
    for (Instruction* i : c->snapshot()) {
      if (!i->is(Op::custom_call)) continue;
      Instruction* with = replaced(i);
      if (!with || with == i) continue;
      i->replace_all_uses_with(with);
      c->erase(i);
      changed = true;
    }
  return changed;
}

Instruction* Boundaries::replaced(Instruction* i) {
  const std::string& target = i->attrs().text(Attr::custom_call_target);
  if (target == "Sharding" || target == "xla.sdy.FuncResultSharding") return constraint(i);
  if (target == "xla.sdy.GlobalToLocalShape") return global_to_local(i);
  if (target == "xla.sdy.LocalToGlobalShape") return local_to_global(i);
  // The older pair follows an annotation, whose tiles it takes, or carries its own.
  if (target == "SPMDFullToShardShape") {
    const Sharding* s = marks_.joined(i->operand(0));
    return s ? i->operand(0)->operand(0) : i->operand(0);
  }
  if (target == "SPMDShardToFullShape") return constraint(i);
  const bool on_tiles = target == kPartitionedCallback;
  if (i->has(Attr::sharding) && i->has_effect() && !on_tiles) {
    const auto said = parse_sharding(i->attrs().raw(Attr::sharding), ranks_of(i->shape()), marks_.devices());
    if (!said.empty() && said[0].kind == Annotation::kMaximal) return only_on(i, said[0].device);
  }
  return nullptr;
}

Instruction* Boundaries::constraint(Instruction* i) {
  Build b(i);
  Instruction* x = i->operand(0);
  if (i->num_operands() != 1 || !i->shape().is_array()) return x;
  const std::string sdy = frontend_attribute(i->attrs().raw(Attr::frontend_attributes), "xla.sdy.sharding");
  Sharding s = Sharding::replicated(static_cast<int64_t>(i->dims().size()), marks_.devices());
  if (!sdy.empty()) {
    const MeshSharding said = parse_sdy_shardings(sdy, meshes_, ranks_of(i->shape()), marks_.devices())[0];
    s = said.sharding;
    const bool is_open = std::ranges::any_of(said.open, std::identity());
    if (is_open && s.summands == 1 && i->shape().compatible(x->shape())) return marks_.leave_open(b, x, said);
  } else if (i->has(Attr::sharding)) {
    const Annotation said =
        parse_sharding(i->attrs().raw(Attr::sharding), ranks_of(i->shape()), marks_.devices())[0];
    if (said.kind != Annotation::kTiled) return x;
    s = said.sharding;
  }
  if (!i->shape().compatible(x->shape())) return marks_.join(b, x, s, i->shape());  // tiles become a whole
  if (s.is_replicated()) return marks_.keep_whole(b, x);
  if (!s.divides(i->shape())) return x;
  return marks_.join(b, marks_.cut(b, x, s), s, i->shape());
}

std::vector<Sharding> Boundaries::manual_shardings(const Instruction* i, std::string_view key,
                                                   const std::vector<int64_t>& ranks) const {
  const std::string& all = i->attrs().raw(Attr::frontend_attributes);
  const std::vector<std::string> axes = parse_manual_axes(frontend_attribute(all, "xla.sdy.manual_axes"));
  std::vector<Sharding> out;
  for (const MeshSharding& s :
       parse_sdy_shardings(frontend_attribute(all, key), meshes_, ranks, marks_.devices(), axes))
    out.push_back(axes.empty()
                      ? Sharding::replicated(static_cast<int64_t>(s.sharding.tiles.size()), marks_.devices())
                      : s.sharding);
  return out;
}

Instruction* Boundaries::global_to_local(Instruction* i) {
  Build b(i);
  std::vector<int64_t> ranks;
  for (const Instruction* o : i->operands()) ranks.push_back(static_cast<int64_t>(o->dims().size()));
  const std::vector<Sharding> shardings = manual_shardings(i, "xla.sdy.in_shardings", ranks);
  const std::vector<const Shape*> leaves = leaves_of(i->shape());
  std::vector<Instruction*> tiles;
  for (size_t k = 0; k < shardings.size(); ++k) {
    Instruction* x = i->operand(static_cast<int64_t>(k));
    if (!x->shape().is_array()) {
      tiles.push_back(x);
      continue;
    }
    if (!shardings[k].divides(x->shape()) || !shardings[k].local(x->shape()).compatible(*leaves[k]))
      throw unsupported_error(*i, "operand {} of a manual region is {}, which {} does not cut into {}", k,
                              to_string(x->shape()), to_string(shardings[k]), to_string(*leaves[k]));
    tiles.push_back(marks_.cut(b, x, shardings[k]));
  }
  return i->shape().is_tuple() ? b.tuple(tiles) : tiles[0];
}

Instruction* Boundaries::local_to_global(Instruction* i) {
  Build b(i);
  const std::vector<const Shape*> leaves = leaves_of(i->shape());
  const std::vector<Sharding> shardings = manual_shardings(i, "xla.sdy.out_shardings", ranks_of(i->shape()));
  std::vector<Instruction*> wholes;
  for (size_t k = 0; k < shardings.size(); ++k) {
    Instruction* x = i->operand(static_cast<int64_t>(k));
    if (!x->shape().is_array()) {
      wholes.push_back(x);
      continue;
    }
    if (!shardings[k].divides(*leaves[k]) || !shardings[k].local(*leaves[k]).compatible(x->shape()))
      throw unsupported_error(*i, "result {} of a manual region is {}, which {} does not make up from {}", k,
                              to_string(*leaves[k]), to_string(shardings[k]), to_string(x->shape()));
    wholes.push_back(marks_.join(b, x, shardings[k], *leaves[k]));
  }
  return i->shape().is_tuple() ? b.tuple(wholes) : wholes[0];
}

// Under a condition that holds on one device, which then tells the others the results.
Instruction* Boundaries::only_on(Instruction* i, int64_t device) {
  Build b(i);
  std::vector<Instruction*> arguments(i->operands().begin(), i->operands().end());
  Instruction* packed = b.tuple(arguments);
  auto branch = [&](std::string_view name) {
    Computation* c = m_.add_computation(std::string(name));
    Instruction* p = c->add_parameter(0, packed->shape());
    return std::pair(c, p);
  };
  auto [run, run_parameter] = branch("on_device");
  std::vector<Instruction*> elements;
  for (size_t k = 0; k < arguments.size(); ++k)
    elements.push_back(
        run->add(Op::get_tuple_element, {run_parameter}, with(Attr::index, static_cast<int64_t>(k))));
  Instruction* call = run->clone(*i, elements);
  call->attrs().erase(Attr::sharding);
  run->set_root(call);
  auto [idle, idle_parameter] = branch("on_others");
  static_cast<void>(idle_parameter);
  std::vector<Instruction*> nothing;
  for (const Shape* leaf : leaves_of(i->shape())) {
    if (leaf->is_array()) {
      Instruction* zero = idle->add_constant(Literal(Shape::scalar(leaf->dtype)));
      nothing.push_back(
          idle->add(Op::broadcast, leaf->without_layout(), {zero}, with(Attr::dimensions, Dims{})));
    } else {
      nothing.push_back(idle->add(Op::after_all, {}));
    }
  }
  idle->set_root(i->shape().is_tuple() ? idle->add(Op::tuple, nothing) : nothing[0]);
  Instruction* here = b.compare("EQ", b.add(Op::partition_id, {}), b.scalar_int(DType::kU32, device));
  Attrs attrs = with(Attr::true_computation, run);
  attrs.set(Attr::false_computation, idle);
  Instruction* result = b.add(Op::conditional, i->shape(), {here, packed, packed}, attrs);
  return marks_.told_by(b, result, device);
}

}  // namespace armillary
