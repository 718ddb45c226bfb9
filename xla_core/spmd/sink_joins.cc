// op(join(x)) = join(op(x)), and cut(join(x)) = x.
#include "xla_core/spmd/batches.h"
#include "xla_core/spmd/boundaries.h"
#include "xla_core/spmd/ties.h"

namespace armillary {
namespace {

// The join of the op on tiles, whose operand `k` is cut as `s`; nullptr where the others cannot follow.
Instruction* joined_later(Marks& marks, Instruction* i, int64_t k, const Sharding& s) {
  const std::optional<Sharding> result = result_sharding(*i, k, s);
  if (!result || !result->divides(i->shape())) return nullptr;
  const std::optional<std::vector<Sharding>> wanted = operand_shardings(*i, *result);
  if (!wanted || !((*wanted)[k] == s)) return nullptr;
  Build b(i);
  const std::optional<std::vector<Instruction*>> tiles = marks.cut_operands(b, *i, *wanted);
  return tiles ? marks.join(b, on_tiles(b, *i, *tiles, *result), *result, i->shape()) : nullptr;
}

// The dimensions of operand `k` along which its tiles are enough.
std::vector<bool> enough_along(const Instruction& i, int64_t k, const Sharding& s) {
  std::vector<bool> kept(s.tiles.size(), false);
  for (size_t d = 0; d < kept.size(); ++d) {
    if (s.tiles[d] == 1) continue;
    kept[d] = true;
    const Sharding part = s.restricted(kept);
    const std::optional<Sharding> result = result_sharding(i, k, part);
    const auto wanted = result ? operand_shardings(i, *result) : std::nullopt;
    kept[d] = wanted && (*wanted)[k] == part;
  }
  return kept;
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

// As above with the first operand that is a join, if need be of larger tiles, in which dimensions are whole
// that the op must see whole.
Instruction* joined_later(Marks& marks, Instruction* i) {
  for (const bool enlarge : {false, true})
    for (int64_t k = 0; k < i->num_operands(); ++k) {
      if (!marks.joined(i->operand(k))) continue;
      const Sharding s = *marks.joined(i->operand(k));  // the table moves when marks are added
      if (s.summands > 1) continue;
      const Sharding part = enlarge ? s.restricted(enough_along(*i, k, s)) : s;
      Instruction* later = part.is_replicated() ? nullptr : joined_later(marks, i, k, part);
      if (enlarge && i->def().meaning == Meaning::kIndex && i->operand(k)->dims() == i->dims())
        return cut_again(marks, i, k, s, later);
      if (later) return later;
    }
  return nullptr;
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
