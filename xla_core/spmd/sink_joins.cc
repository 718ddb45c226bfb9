// op(join(x)) = join(op(x)), and cut(join(x)) = x.
#include "xla_core/spmd/batches.h"
#include "xla_core/spmd/boundaries.h"
#include "xla_core/spmd/ties.h"

namespace armillary {
namespace {

// The join of what the devices compute of their tiles; summands are added at once. nullptr where operands
// cannot be cut so.
Instruction* on_devices(Marks& marks, Instruction* i, const Split& work) {
  Build b(i);
  const std::optional<std::vector<Instruction*>> tiles = marks.cut_operands(b, *i, work.operands);
  if (!tiles) return nullptr;
  Instruction* tile = on_tiles(b, *i, *tiles, work.result);
  return marks.join(b, marks.combine(b, tile, work.result, work.combine), work.result.added(), i->shape());
}

// An array whose elements only change their places is cut afterwards as before, though the op must see more
// of it at once: larger tiles, or nullptr for all of it.
Instruction* cut_again(Marks& marks, Instruction* i, int64_t k, const Sharding& s, Instruction* larger) {
  Build b(i);
  if (!larger) {
    std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
    operands[k] = marks.keep_whole(b, operands[k]);
    larger = b.clone(*i, std::move(operands));
  }
  return marks.join(b, marks.cut(b, larger, s), s, i->shape());
}

Instruction* joined_later(Marks& marks, Instruction* i) {
  std::vector<std::optional<Sharding>> cuts;
  std::optional<int64_t> first;
  for (int64_t k = 0; k < i->num_operands(); ++k) {
    const Sharding* s = marks.joined(i->operand(k));
    cuts.push_back(s && s->summands == 1 ? std::optional(*s) : std::nullopt);
    if (cuts.back() && !first) first = k;
  }
  if (!first) return nullptr;
  const std::optional<Split> work = split(*i, cuts);
  Instruction* later = work ? on_devices(marks, i, *work) : nullptr;
  auto is_enough = [&](size_t k) { return cuts[k] && work->operands[k].is_within(*cuts[k]); };
  for (size_t k = 0; later && k < cuts.size(); ++k)
    if (is_enough(k)) return later;
  if (i->def().meaning == Meaning::kIndex && i->operand(*first)->dims() == i->dims())
    return cut_again(marks, i, *first, *cuts[*first], later);
  return later;
}

// What a wish leaves open is cut as it comes, but by axes that the wish keeps from cutting anything.
Instruction* closed(Marks& marks, Instruction* i, const MeshSharding& said) {
  Instruction* x = i->operand(0);
  const Sharding* have = marks.joined(x);
  if (!have && said.sharding.is_replicated()) return x;
  Sharding s = said.taken;
  for (size_t d = 0; have && d < said.open.size(); ++d)
    if (said.open[d] && s.tiles[d] == 1 && have->tiles[d] > 1)
      if (auto more = cut_further(s, static_cast<int64_t>(d), *have, static_cast<int64_t>(d))) s = *more;
  auto of_array = [](Dims values) {
    values.pop_back();
    return values;
  };
  s = s.mapped(of_array(s.tiles), of_array);
  if (!s.divides(x->shape()) || (have && s == *have)) return x;
  Build b(i);
  if (s.is_replicated()) return marks.keep_whole(b, x);
  return marks.join(b, marks.cut(b, x, s), s, x->shape());
}

// The tile that was joined to be cut again, or nullptr.
Instruction* same_tile(const Marks& marks, const Instruction* i) {
  const Sharding* cut = marks.is_cut(i);
  const Sharding* s = cut ? marks.joined(i->operand(0)) : nullptr;
  return s && *s == *cut ? i->operand(0)->operand(0) : nullptr;
}

Instruction* element_of_tuple(Instruction* i) {
  const bool known = i->is(Op::get_tuple_element) && i->operand(0)->is(Op::tuple);
  return known ? i->operand(0)->operand(i->attrs().integer(Attr::index)) : nullptr;
}

// A Python function without results that every device calls with what it holds.
Instruction* call_on_tiles(Marks& marks, Instruction* i) {
  const bool wanted = i->attrs().text(Attr::custom_call_target) == kPartitionedCallback;
  if (!wanted || !leaves_of(i->shape()).empty()) return nullptr;
  std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
  bool cut = false;
  for (Instruction*& o : operands)
    if (const Sharding* s = marks.joined(o); s && s->summands == 1) cut = true, o = o->operand(0);
  return cut ? Build(i).clone(*i, std::move(operands)) : nullptr;
}

Instruction* later(Marks& marks, Instruction* i) {
  if (const MeshSharding* said = marks.is_open(i)) return closed(marks, i, *said);
  if (marks.is_mark(i)) return same_tile(marks, i);
  if (i->is(Op::get_tuple_element)) return element_of_tuple(i);
  if (!i->is(Op::custom_call)) return joined_later(marks, i);
  Instruction* on_tiles = call_on_tiles(marks, i);
  return on_tiles ? on_tiles : call_on_batches(marks, i);
}

}  // namespace

void sink_joins(Module& m, Marks& marks) {
  for (Computation* c : m.reachable()) {
    for (Instruction* i : c->snapshot()) {
      Instruction* with = later(marks, i);
      if (!with) continue;
      i->replace_all_uses_with(with);
      c->erase(i);
    }
  }
}

}  // namespace armillary
