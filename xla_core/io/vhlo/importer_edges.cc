// What computations take and give: parameters of functions, arguments of regions, roots, and the program's
// layout; with the shardings and promises (donation, aliasing) that the artifact notes at its functions'
// edges.
#include <algorithm>

#include "xla_core/hlo/parse_parts.h"
#include "xla_core/io/vhlo/op_import.h"

namespace armillary::vhlo {
namespace {

// Puts back what stood for values outside once a region is built.
class Restore {
 public:
  explicit Restore(const std::vector<Value*>& values) : values_(values) {
    for (const Value* v : values) before_.push_back(v->now);
  }
  ~Restore() {
    for (size_t i = 0; i < before_.size(); ++i) values_[i]->now = before_[i];
  }

 private:
  const std::vector<Value*>& values_;
  std::vector<Instruction*> before_;
};

// One dictionary an argument or result, in a list; nullptr where there is none.
const Attribute* dictionary_at(const Operation& function, std::string_view list, size_t i) {
  const Attribute* all = function.find(list);
  if (all == nullptr || items_of(*all).size() <= i) return nullptr;
  const Attribute* one = items_of(*all)[i];
  if (one->kind != AttributeKind::kDictionary)
    throw user_error("{} holds something that is no dictionary", list);
  return one;
}

void lay_out_row_major(Shape& shape) {
  for (Shape& element : shape.tuple) lay_out_row_major(element);
  if (shape.is_array()) shape.layout = Layout::row_major(shape.rank());
}

// The layout that a constraint gives a value, under notes on where among the devices it lies.
std::optional<Layout> constraint_on(const Instruction* i) {
  while (i->is(Op::custom_call) && i->num_operands() == 1) {
    const std::string& target = i->attrs().text(Attr::custom_call_target);
    if (target == "LayoutConstraint") return i->shape().layout;
    if (target != "Sharding" && target != "xla.sdy.FuncResultSharding") break;
    i = i->operand(0);
  }
  return std::nullopt;
}

// JAX's note is "default", which is row-major, as where there is none; or "auto", which leaves it to a
// constraint on the value and else to the compiler; or a layout.
void lay_out(Shape& shape, const Attribute* notes, const Instruction* value) {
  const Attribute* note = notes ? notes->find("mhlo.layout_mode") : nullptr;
  const std::string mode(note ? text_of(*note) : "default");
  if (mode == "default" || !shape.is_array() || shape.rank() == 0) return lay_out_row_major(shape);
  shape.layout.reset();
  if (mode == "auto") {
    if (value != nullptr) shape.layout = constraint_on(value);
    return;
  }
  const std::string text = to_string(shape) + mode;
  Scanner in(text, "mhlo.layout_mode", 100);
  shape = read_shape(in);
  if (!shape.layout || !in.at_end()) throw user_error("mhlo.layout_mode is no layout: {}", mode);
  if (!shape.layout->tiles.empty())
    throw unsupported_error("the layout {}: arrays lie untiled on this platform", mode);
}

}  // namespace

void Importer::add_parameters(const Operation& function, const Block& block, Computation& into,
                              bool is_entry) {
  for (size_t i = 0; i < block.arguments.size(); ++i) {
    Value& value = *block.arguments[i];
    const auto number = static_cast<int64_t>(i);
    Place place = places_.of_argument(value.location);
    const std::string name = place.name.empty() ? fmt::format("Arg_{}", i) : place.name;
    Instruction* p = into.add_parameter(number, shape_of(*value.type), name);
    if (!place.metadata.empty()) p->set_metadata(std::move(place.metadata));
    value.now = p;
    const Attribute* notes = dictionary_at(function, "arg_attrs", i);
    if (notes == nullptr) continue;
    set_sharding(p, sharding_at(notes, meshes_));
    proto::FrontendAttributes attributes;
    if (const Attribute* given = notes->find("mhlo.frontend_attributes"))
      add_frontend_attributes(*given, attributes);
    if (const Attribute* sharding = notes->find("sdy.sharding"))
      (*attributes.mutable_map())["xla.sdy.sharding"] = mlir_text(*sharding);
    set_frontend_attributes(p, attributes);
    if (!is_entry) continue;
    if (const Attribute* same = notes->find("mhlo.is_same_data_across_replicas"); same && integer_of(*same))
      p->attrs().set(Attr::parameter_replication, RawText{"{true}", false});
    if (notes->find("jax.buffer_donor")) module_.donors.push_back({number, {}});
    if (const Attribute* alias = notes->find("tf.aliasing_output")) {
      const int64_t output = integer_of(*alias);
      const size_t results = terminator_of(block).operands.size();
      if (output < 0 || output >= static_cast<int64_t>(results))
        throw user_error("argument {} is aliased with result {} of {}", i, output, results);
      module_.aliases.push_back({results == 1 ? Dims{} : Dims{output}, number, {}, false});
    }
  }
}

Computation* Importer::region(const Block& block, const RegionForm& form) {
  if (block.operations.empty()) throw user_error("a region is empty");
  Computation* into = module_.add_computation(fmt::format("region_{}", regions_++));
  const Restore restore(form.captured);
  add_region_arguments(block, form, *into);
  import_block(block, *into);
  const Operation& last = terminator_of(block);
  std::vector<Instruction*> results;
  const auto skips = [&](size_t i) {
    return form.returns_captured && i < form.skipped.size() && form.skipped[i];
  };
  for (size_t i = 0; i < last.operands.size(); ++i)
    if (!skips(i)) results.push_back(instruction(*last.operands[i], *into));
  if (form.returns_captured)
    for (Value* value : form.captured) results.push_back(instruction(*value, *into));
  Sharding sharding;
  if (!form.results.empty()) sharding = tuple_sharding(form.results);
  into->set_root(results.size() == 1 ? results[0] : add_tuple(*into, std::move(results), sharding));
  return into;
}

// Values that a region takes: the block's own, then captured ones; alone, side by side, or in a tuple.
void Importer::add_region_arguments(const Block& block, const RegionForm& form, Computation& into) {
  std::vector<Value*> values;
  for (size_t i = 0; i < block.arguments.size(); ++i)
    if (i >= form.skipped.size() || !form.skipped[i]) values.push_back(block.arguments[i]);
  values.insert(values.end(), form.captured.begin(), form.captured.end());
  auto sharding_of = [&](size_t i) { return i < form.arguments.size() ? form.arguments[i] : std::nullopt; };
  if (form.one_argument && values.size() != 1) {
    std::vector<Shape> shapes;
    for (const Value* value : values) shapes.push_back(shape_of(*value->type));
    Instruction* tuple = into.add_parameter(0, Shape::make_tuple(std::move(shapes)),
                                            values.empty() ? "arg_empty_tuple" : "arg_tuple");
    if (!form.arguments.empty()) set_sharding(tuple, tuple_sharding(form.arguments));
    for (size_t i = 0; i < values.size(); ++i) {
      Attrs attrs;
      attrs.set(Attr::index, static_cast<int64_t>(i));
      values[i]->now = into.add(Op::get_tuple_element, shape_of(*values[i]->type), {tuple}, std::move(attrs));
      set_sharding(values[i]->now, sharding_of(i));
    }
    return;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    Place place = places_.of_argument(values[i]->location);
    const std::string name = place.name.empty() ? fmt::format("Arg_{}", i) : place.name;
    Instruction* p = into.add_parameter(static_cast<int64_t>(i), shape_of(*values[i]->type), name);
    if (!place.metadata.empty()) p->set_metadata(std::move(place.metadata));
    set_sharding(p, sharding_of(i));
    values[i]->now = p;
  }
}

Instruction* Importer::add_tuple(Computation& into, std::vector<Instruction*> elements,
                                 const Sharding& sharding) {
  std::vector<Shape> shapes;
  for (const Instruction* i : elements) shapes.push_back(i->shape());
  Instruction* tuple = into.add(Op::tuple, Shape::make_tuple(std::move(shapes)), std::move(elements));
  set_sharding(tuple, sharding);
  return tuple;
}

// Results with a sharding of Shardy's pass through a custom call that remembers it.
void Importer::finish(const Operation& function, const Block& block, Computation& into, bool is_entry) {
  const Operation& last = terminator_of(block);
  std::vector<Instruction*> results;
  std::vector<Sharding> shardings;
  for (size_t i = 0; i < last.operands.size(); ++i) {
    Instruction* result = instruction(*last.operands[i], into);
    const Attribute* notes = dictionary_at(function, "res_attrs", i);
    const Attribute* shardy = notes ? notes->find("sdy.sharding") : nullptr;
    if (shardy != nullptr) {
      Attribute per_value;
      per_value.kind = AttributeKind::kShardingPerValue;
      per_value.items = {shardy};
      if (shardy->kind != AttributeKind::kSharding)
        throw user_error("sdy.sharding of a result is no sharding");
      Attrs attrs;
      attrs.set(Attr::custom_call_target, std::string("xla.sdy.FuncResultSharding"));
      attrs.set(Attr::custom_call_has_side_effect, true);
      const Metadata metadata = places_.of_operation(last.operands[i]->location).metadata;
      result = into.add(Op::custom_call, result->shape(), {result}, std::move(attrs));
      result->set_metadata(metadata);
      proto::FrontendAttributes attributes;
      (*attributes.mutable_map())["xla.sdy.sharding"] = mlir_text(per_value);
      set_frontend_attributes(result, attributes);
    }
    results.push_back(result);
    shardings.push_back(sharding_at(notes, meshes_));
  }
  const bool any =
      std::any_of(shardings.begin(), shardings.end(), [](const Sharding& s) { return s.has_value(); });
  Sharding tuple;
  if (any) tuple = tuple_sharding(shardings);
  if (results.size() != 1) {
    into.set_root(add_tuple(into, std::move(results), tuple));
  } else if (any) {
    // XLA keeps the sharding of a single result apart from the instruction that makes it.
    Instruction* one = results[0];
    const Shape shape = one->shape();
    Sharding its_own;
    if (!shape.is_token() && one->has(Attr::sharding))
      its_own = read_sharding(one->attrs().raw(Attr::sharding));
    Attrs attrs;
    attrs.set(Attr::index, int64_t{0});
    Instruction* root =
        into.add(Op::get_tuple_element, shape, {add_tuple(into, {one}, its_own)}, std::move(attrs));
    set_sharding(root, shardings[0]);
    into.set_root(root);
  } else {
    into.set_root(results[0]);
  }
  if (is_entry) finish_entry(function, last.operands.size(), into);
}

// Where the entry's parameters and results lie is noted beside them; donated ones are known already.
void Importer::finish_entry(const Operation& function, size_t results, Computation& entry) {
  ProgramShape shape = entry.program_shape();
  for (size_t i = 0; i < shape.parameters.size(); ++i)
    lay_out(shape.parameters[i], dictionary_at(function, "arg_attrs", i), nullptr);
  Instruction* root = entry.root();
  for (size_t i = 0; i < results; ++i)
    lay_out(results == 1 ? shape.result : shape.result.tuple[i], dictionary_at(function, "res_attrs", i),
            results == 1 ? root : root->operand(static_cast<int64_t>(i)));
  module_.entry_layout = std::move(shape);
}

}  // namespace armillary::vhlo
