#include "xla_core/spmd/sums.h"

#include <algorithm>
#include <map>
#include <set>

#include "xla_core/spmd/linear.h"
#include "xla_core/spmd/ties.h"

namespace armillary {

std::optional<Sharding> left_to_add(const Sharding& have, const Sharding& want) {
  if (have.tiles != want.tiles || have.tile_of != want.tile_of || have.summands % want.summands != 0)
    return {};
  if (have.summands == 1) return {};
  std::map<std::pair<int64_t, int64_t>, int64_t> wanted;           // tile and summand of `have`
  std::map<std::pair<int64_t, int64_t>, std::set<int64_t>> parts;  // of a tile and a summand of `want`
  for (size_t d = 0; d < have.tile_of.size(); ++d) {
    const std::pair mine(have.tile_of[d], have.summand_of[d]);
    if (wanted.try_emplace(mine, want.summand_of[d]).first->second != want.summand_of[d]) return {};
    parts[{mine.first, want.summand_of[d]}].insert(mine.second);
  }
  Sharding out = have;
  out.tiles.push_back(want.summands);
  out.summands = have.summands / want.summands;
  for (size_t d = 0; d < have.tile_of.size(); ++d) {
    const std::set<int64_t>& together = parts[{have.tile_of[d], want.summand_of[d]}];
    if (static_cast<int64_t>(together.size()) != out.summands) return {};
    out.tile_of[d] = have.tile_of[d] * want.summands + want.summand_of[d];
    out.summand_of[d] = std::distance(together.begin(), together.find(have.summand_of[d]));
  }
  return out;
}

std::optional<std::vector<bool>> summands_from_tiles(const Sharding& from, const Sharding& s) {
  if (from.summands != 1 || from.tile_count() % s.tile_count() != 0) return {};
  std::map<std::pair<int64_t, int64_t>, int64_t> tile_of;  // of a summand of a tile of `s`
  std::map<int64_t, std::map<int64_t, int64_t>> first;  // of a tile of `s`: tiles there, with a summand each
  for (size_t d = 0; d < from.tile_of.size(); ++d) {
    const auto device = static_cast<int64_t>(d);
    const Dims at = from.coordinates(device), within = s.coordinates(device);
    for (size_t n = 0; n < at.size(); ++n)
      if (from.tiles[n] % s.tiles[n] != 0 || at[n] / (from.tiles[n] / s.tiles[n]) != within[n]) return {};
    const std::pair holder(s.tile_of[d], s.summand_of[d]);
    if (tile_of.try_emplace(holder, from.tile_of[d]).first->second != from.tile_of[d]) return {};
    int64_t& summand = first[s.tile_of[d]].try_emplace(from.tile_of[d], s.summand_of[d]).first->second;
    summand = std::min(summand, s.summand_of[d]);
  }
  for (const auto& [tile, parts] : first)
    if (static_cast<int64_t>(parts.size()) != from.tile_count() / s.tile_count()) return {};
  std::vector<bool> out;
  for (size_t d = 0; d < from.tile_of.size(); ++d)
    out.push_back(first[s.tile_of[d]].at(from.tile_of[d]) == s.summand_of[d]);
  return out;
}

namespace {

// Summands that the devices hold.
struct Held {
  Instruction* tile;
  Sharding sharding;
};

// Of a value that is there as a sum, or was added up just now.
std::optional<Held> held(const Marks& marks, Instruction* x) {
  const Sharding* joined = marks.joined(x);
  if (joined && joined->summands > 1) return Held{x->operand(0), *joined};
  Instruction* sum = joined ? x->operand(0) : x;
  const Sharding* summed = marks.added_up(sum);
  const bool same = summed && (joined ? *joined == summed->added() : summed->tile_count() == 1);
  return same ? std::optional(Held{sum->operand(0), *summed}) : std::nullopt;
}

Sharding with_summands(Sharding tiles, const Sharding& s) {
  tiles.summands = s.summands;
  tiles.summand_of = s.summand_of;
  return tiles;
}

// Each tile has as many copies of each summand.
bool is_even(const Sharding& s) {
  std::map<std::pair<int64_t, int64_t>, int64_t> holders;
  for (size_t d = 0; d < s.tile_of.size(); ++d)
    ++holders[{s.tile_of[d], s.summands == 1 ? 0 : s.summand_of[d]}];
  return static_cast<int64_t>(holders.size()) == s.tile_count() * s.summands &&
         std::ranges::all_of(holders, [&](const auto& h) { return h.second == holders.begin()->second; });
}

// Of an op on summands as `s`: its own sums over cut dimensions are more of them.
Sharding summands_of_both(const Sharding& result, const Sharding& s) {
  Sharding out = with_summands(result, s);
  out.summands = result.summands * s.summands;
  for (size_t d = 0; result.summands > 1 && d < out.summand_of.size(); ++d)
    out.summand_of[d] += result.summand_of[d] * s.summands;
  return out;
}

// Those of an op's operands, with the `summed` ones, in which it is linear together: these, or all that could
// be summands as well, or of them those that are no scalars, which may be indices.
std::optional<std::vector<bool>> linear_in(const Instruction& i, const std::vector<bool>& summed) {
  auto with = [&](auto more) {
    std::vector<bool> out = summed;
    for (int64_t k = 0; k < i.num_operands(); ++k)
      out[k] = out[k] || (i.operand(k)->dtype() == i.dtype() && more(i.operand(k)));
    return out;
  };
  for (const std::vector<bool>& choice : {summed, with([](const Instruction*) { return true; }),
                                          with([](const Instruction* o) { return !o->dims().empty(); })})
    if (is_linear(i, choice)) return choice;
  return {};
}

// The op on each summand of its operands alone, where that gives parts of the summands `wanted`.
std::optional<Held> on_summands(Marks& marks, Instruction* i, const Sharding& wanted) {
  std::vector<std::optional<Sharding>> cuts(i->num_operands());
  std::vector<bool> summed(i->num_operands(), false);
  const Sharding* sums = nullptr;
  for (int64_t k = 0; k < i->num_operands(); ++k) {
    const Sharding* s = marks.joined(i->operand(k));
    if (!s) continue;
    cuts[k] = s->added();
    if (s->summands == 1) continue;
    if (sums && (s->summands != sums->summands || s->summand_of != sums->summand_of)) return {};
    sums = s;
    summed[k] = true;
  }
  if (!sums) return {};
  const auto all_summed = linear_in(*i, summed);
  if (!all_summed) return {};
  summed = *all_summed;
  const auto devices = marks.devices();
  auto whole = [&](const Instruction* x) { return Sharding::replicated(x->shape().rank(), devices); };
  const bool in_tiles = std::ranges::any_of(cuts, [](const auto& s) { return s && s->tile_count() > 1; });
  std::optional<Split> work;
  if (in_tiles) {
    work = split(*i, cuts);
  } else {
    work = Split{.operands = {}, .result = whole(i)};
    for (const Instruction* o : i->operands()) work->operands.push_back(whole(o));
  }
  if (!work || (work->result.summands > 1 && work->combine != Op::add)) return {};
  const Sharding result = summands_of_both(work->result, *sums);
  if (!is_even(result) || !result.divides(i->shape()) || !left_to_add(result, wanted)) return {};
  for (size_t k = 0; k < cuts.size(); ++k) {
    if (!summed[k]) continue;
    const Sharding* have = marks.joined(i->operand(static_cast<int64_t>(k)));
    if (have && have->summands > 1 && work->operands[k] != have->added()) return {};
    work->operands[k] = with_summands(work->operands[k], *sums);
    if (!is_even(work->operands[k])) return {};
  }
  Build b(i);
  const auto tiles = marks.cut_operands(b, *i, work->operands);
  if (!tiles) return {};
  return Held{on_tiles(b, *i, *tiles, work->result), result};
}

bool all_want(const Marks& marks, const Instruction* i, const Sharding& s) {
  return !i->is_root() && std::ranges::all_of(i->users(), [&](const Instruction* user) {
    const Sharding* cut = marks.is_cut(user);
    return cut && *cut == s;
  });
}

}  // namespace

bool lift_sums(Module& m, Marks& marks) {
  bool changed = false;
  for (Computation* c : m.reachable())
    for (Instruction* cut : c->snapshot()) {
      const Sharding* wanted = marks.is_cut(cut);
      if (!wanted || wanted->summands == 1) continue;
      const Sharding s = *wanted;
      Instruction* x = cut->operand(0);
      std::optional<Held> have = held(marks, x);
      if (!have && !marks.is_mark(x) && all_want(marks, x, s)) have = on_summands(marks, x, s);
      const auto rest = have ? left_to_add(have->sharding, s) : std::nullopt;
      if (!rest) continue;
      Build b(cut);
      cut->replace_all_uses_with(marks.combine(b, have->tile, *rest, Op::add));
      c->erase(cut);
      changed = true;
    }
  return changed;
}

}  // namespace armillary
