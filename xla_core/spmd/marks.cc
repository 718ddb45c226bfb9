#include "xla_core/spmd/marks.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "xla_core/hlo/device_groups.h"
#include "xla_core/spmd/linear.h"
#include "xla_core/spmd/sums.h"
#include "xla_core/spmd/ties.h"

namespace armillary {

Instruction* Marks::join(Build& b, Instruction* tile, const Sharding& s, Shape whole) {
  if (s.is_replicated()) return tile;
  Instruction* mark = b.add(Op::custom_call, std::move(whole), {tile},
                            with(Attr::custom_call_target, std::string("spmd.join")));
  joins_[mark] = s;
  return mark;
}

Instruction* Marks::cut(Build& b, Instruction* whole, const Sharding& s) {
  if (s.is_replicated()) return whole;
  if (const Sharding* have = joined(whole); have && *have == s) return whole->operand(0);
  const bool is_splat = whole->is(Op::broadcast) && whole->operand(0)->dims().empty();
  if (is_splat && (s.summands == 1 || is_zero(whole->operand(0))))
    return b.splat(s.local(whole->shape()), whole->operand(0));
  Instruction* mark = b.add(Op::custom_call, s.local(whole->shape()), {whole},
                            with(Attr::custom_call_target, std::string("spmd.cut")));
  cuts_[mark] = s;
  return mark;
}

std::optional<std::vector<Instruction*>> Marks::cut_operands(Build& b, const Instruction& i,
                                                             const std::vector<Sharding>& shardings) {
  for (size_t k = 0; k < shardings.size(); ++k)
    if (!shardings[k].divides(i.operand(static_cast<int64_t>(k))->shape())) return {};
  std::vector<Instruction*> tiles;
  for (size_t k = 0; k < shardings.size(); ++k) {
    Instruction* x = i.operand(static_cast<int64_t>(k));
    // What is whole beside tiles must not be taken for an operand that is yet to be cut.
    tiles.push_back(shardings[k].is_replicated() && joined(x) ? keep_whole(b, x) : cut(b, x, shardings[k]));
  }
  return tiles;
}

Instruction* Marks::keep_whole(Build& b, Instruction* whole) {
  Instruction* mark = b.add(Op::custom_call, whole->shape(), {whole},
                            with(Attr::custom_call_target, std::string("spmd.whole")));
  wholes_.insert(mark);
  return mark;
}

Instruction* Marks::leave_open(Build& b, Instruction* whole, MeshSharding said) {
  Instruction* mark = b.add(Op::custom_call, whole->shape(), {whole},
                            with(Attr::custom_call_target, std::string("spmd.open")));
  opens_[mark] = std::move(said);
  return mark;
}

void Marks::note_wholes(const Module& m) {
  for (const Computation* c : m.reachable())
    for (Instruction* i : c->snapshot()) {
      if (!joined(i)) continue;
      std::vector<std::string> names;
      std::vector<const Instruction*> users(i->users().begin(), i->users().end());
      for (size_t n = 0; n < users.size(); ++n) {
        const Instruction* user = users[n];
        if (user->is(Op::tuple))
          users.insert(users.end(), user->users().begin(), user->users().end());
        else if (!is_mark(user) && !user->has(kRenames) && std::ranges::count(names, user->name()) == 0)
          names.push_back(user->name());
      }
      if (!names.empty())
        i->attrs().set(Attr::frontend_attributes,
                       RawText{fmt::format("{{{}=\"{}\"}}", kComputedWhole, fmt::join(names, ", "))});
    }
}

int64_t next_channel(const Module& m) {
  int64_t last = 0;
  for (const Computation* c : m.reachable())
    for (const Instruction* i : c->instructions())
      last = std::max(last, i->attrs().integer(Attr::channel_id, 0));
  return last + 1;
}

namespace {

std::string groups_text(const std::vector<DeviceList>& groups, const Module& m) {
  std::vector<std::string> texts;
  for (int64_t r = 0; r < m.replica_count; ++r)
    for (DeviceList g : groups) {
      for (int64_t& d : g) d += r * m.num_partitions;
      texts.push_back(fmt::format("{{{}}}", fmt::join(g, ",")));
    }
  return fmt::format("{{{}}}", fmt::join(texts, ","));
}

Attrs collective(const std::vector<DeviceList>& groups, const Module& m, int64_t& channel) {
  Attrs attrs;
  attrs.set(Attr::replica_groups, RawText{groups_text(groups, m)});
  attrs.set(Attr::channel_id, channel++);
  attrs.set(Attr::use_global_device_ids, true);
  return attrs;
}

Instruction* all_reduce(Build& b, Instruction* tile, const Sharding& s, Op op, int64_t& channel) {
  Attrs attrs = collective(s.summand_groups(), b.module(), channel);
  attrs.set(Attr::to_apply, b.scalar_body(op, tile->dtype()));
  return b.add(Op::all_reduce, tile->shape(), {tile}, attrs);
}

// Summands are added; tiles of `s` stand side by side in a new dimension, then move to their places in the
// tile of `kept`, which cuts some of the same dimensions alike.
Instruction* gather(Instruction* at, Instruction* tile, const Sharding& s, const Sharding& kept,
                    int64_t& channel) {
  Build b(at);
  if (s.summands > 1) tile = all_reduce(b, tile, s, Op::add, channel);
  Dims apart;
  for (size_t d = 0; d < s.tiles.size(); ++d) apart.push_back(s.tiles[d] / kept.tiles[d]);
  const int64_t count = s.tile_count() / kept.tile_count();
  if (count == 1) return tile;
  Dims one = tile->dims();
  one.insert(one.begin(), 1);
  Dims all = one;
  all[0] = count;
  Attrs attrs = collective(s.groups_within(kept), *at->module(), channel);
  attrs.set(Attr::dimensions, Dims{0});
  if (at->has(Attr::frontend_attributes))
    attrs.set(Attr::frontend_attributes, RawText{at->attrs().raw(Attr::frontend_attributes)});
  Instruction* gathered = b.add(Op::all_gather, Shape(tile->dtype(), all), {b.reshape(tile, one)}, attrs);
  const auto rank = static_cast<int64_t>(s.tiles.size());
  Dims permutation;
  apart.insert(apart.end(), tile->dims().begin(), tile->dims().end());
  for (int64_t d = 0; d < rank; ++d) permutation.insert(permutation.end(), {d, rank + d});
  return b.reshape(b.transpose(b.reshape(gathered, apart), permutation), at->dims());
}

// Whether `coarse` cuts some of the dimensions that `fine` cuts, as that does.
bool is_restriction(const Sharding& coarse, const Sharding& fine) {
  std::vector<bool> kept;
  for (size_t d = 0; d < fine.tiles.size(); ++d) kept.push_back(coarse.tiles[d] == fine.tiles[d]);
  return fine.summands == 1 && fine.restricted(kept) == coarse;
}

// The tile on the devices where `here` is set, zero on the others.
Instruction* only_here(Build& b, Instruction* tile, const std::vector<bool>& here) {
  if (std::ranges::all_of(here, std::identity())) return tile;
  Literal table(Shape(DType::kPred, {static_cast<int64_t>(here.size())}));
  for (size_t d = 0; d < here.size(); ++d) table.bytes()[d] = std::byte(here[d]);
  Instruction* device = b.convert(b.add(Op::partition_id, {}), DType::kS32);
  Instruction* mine = b.reshape(b.dynamic_slice(b.constant(std::move(table)), {device}, {1}), {});
  return b.select(b.broadcast(mine, tile->dims(), {}), tile, b.splat(tile->shape().without_layout(), 0.0));
}

// The first summand is the tile, the others are zero.
Instruction* first_summand(Build& b, Instruction* tile, const Sharding& s) {
  std::vector<bool> first;
  for (int64_t summand : s.summand_of) first.push_back(summand == 0);
  return only_here(b, tile, first);
}

// A summand is the device's tile of `from`, which may be a part of that of `s`, among zeros, unless another
// device has the same; nullptr where the devices do not hold all of it.
Instruction* summand_of_tile(Instruction* mark, Instruction* tile, const Sharding& from, const Sharding& s) {
  const std::optional<std::vector<bool>> here = summands_from_tiles(from, s);
  if (!here) return nullptr;
  Build b(mark);
  tile = only_here(b, tile, *here);
  if (from.tile_count() == s.tile_count()) return tile;
  auto within = [&](const Dims& values, auto combine) {
    Dims out;
    for (size_t d = 0; d < values.size(); ++d) out.push_back(combine(values[d], from.tiles[d] / s.tiles[d]));
    return out;
  };
  Sharding place{within(from.tiles, [](int64_t, int64_t parts) { return parts; }), {}};
  for (size_t d = 0; d < from.tile_of.size(); ++d)
    place.tile_of.push_back(place.tile_at(within(from.coordinates(static_cast<int64_t>(d)),
                                                 [](int64_t at, int64_t parts) { return at % parts; })));
  std::vector<Instruction*> starts = tile_offsets(b, place, tile->shape());
  for (Instruction*& start : starts)
    if (!start) start = b.scalar_int(DType::kS32, 0);
  return b.dynamic_update_slice(b.splat(mark->shape().without_layout(), 0.0), tile, starts);
}

// The device's tile of `s`, out of its tile of `have`, which cuts some of the same dimensions alike.
Instruction* slice(Instruction* mark, Instruction* from, const Sharding& s, const Sharding& have) {
  Build b(mark);
  if (s.tile_count() == 1) return first_summand(b, from, s);
  Instruction* zero = b.scalar_int(DType::kS32, 0);
  std::vector<Instruction*> starts = tile_offsets(b, s, mark->shape());
  for (size_t d = 0; d < starts.size(); ++d)
    if (!starts[d] || have.tiles[d] > 1) starts[d] = zero;
  Instruction* tile = b.dynamic_slice(from, starts, mark->dims());
  return s.summands == 1 ? tile : first_summand(b, tile, s);
}

// The device's tile of a sum that nobody needs whole, or nullptr where each group does not hold all tiles
// once.
Instruction* scattered_sum(Instruction* mark, const Sharding& s) {
  Instruction* sum = mark->operand(0);
  const auto dimension = std::ranges::find_if(s.tiles, [](int64_t n) { return n > 1; });
  const bool one_dimension = dimension != s.tiles.end() && *dimension == s.tile_count() && s.summands == 1;
  const Module& m = *mark->module();
  if (!sum->is(Op::all_reduce) || sum->num_operands() != 1 || sum->users().size() != 1 || sum->is_root() ||
      m.replica_count > 1 || !one_dimension)
    return nullptr;
  std::vector<DeviceList> groups = device_groups(*sum);
  for (DeviceList& group : groups) {
    if (static_cast<int64_t>(group.size()) != s.tile_count()) return nullptr;
    std::ranges::sort(group, {}, [&](int64_t device) { return s.tile_of[device]; });
    for (size_t tile = 0; tile < group.size(); ++tile)
      if (s.tile_of[group[tile]] != static_cast<int64_t>(tile)) return nullptr;
  }
  Attrs attrs = sum->attrs();
  attrs.set(Attr::replica_groups, RawText{groups_text(groups, m)});
  attrs.set(Attr::dimensions, Dims{dimension - s.tiles.begin()});
  return Build(mark).add(Op::reduce_scatter, mark->shape(), {sum->operand(0)}, attrs);
}

// The device's tile of `to`, out of its tile of `from` and those of few others; nullptr where the whole is
// needed.
Instruction* other_tile(Instruction* cut, const Sharding& from, const Sharding& to, int64_t& channel) {
  Instruction* tile = cut->operand(0)->operand(0);
  const Sharding added = from.added();
  if (to.summands > 1) return summand_of_tile(cut, tile, from, to);
  if (added.tile_count() == 1) return nullptr;  // a sum that is cut at once
  if (is_restriction(to, added)) return gather(cut, tile, from, to, channel);
  if (!is_restriction(added, to)) return nullptr;
  Build b(cut);
  if (from.summands > 1) tile = all_reduce(b, tile, from, Op::add, channel);
  return slice(cut, tile, to, added);
}

}  // namespace

Instruction* Marks::combine(Build& b, Instruction* tile, const Sharding& s, Op op) {
  int64_t channel = next_channel(b.module());
  if (s.summands == 1) return tile;
  Instruction* whole = all_reduce(b, tile, s, op, channel);
  if (op == Op::add) sums_[whole] = s;
  return whole;
}

Instruction* Marks::told_by(Build& b, Instruction* value, int64_t device) {
  if (value->shape().is_tuple()) {
    std::vector<Instruction*> elements;
    for (size_t e = 0; e < value->shape().tuple.size(); ++e)
      elements.push_back(told_by(b, b.element(value, static_cast<int64_t>(e)), device));
    return b.tuple(elements);
  }
  if (!value->shape().is_array()) return value;
  DeviceList group = {device};
  for (int64_t d = 0; d < devices_; ++d)
    if (d != device) group.push_back(d);
  Attrs attrs = with(Attr::replica_groups, RawText{groups_text({group}, b.module())});
  attrs.set(Attr::channel_id, next_channel(b.module()));
  return b.add(Op::collective_broadcast, value->shape(), {value}, attrs);
}

void lower_marks(Module& m, Marks& marks) {
  int64_t channel = next_channel(m);
  auto wanted = [](const Instruction* i) { return !i->users().empty() || i->is_root(); };
  auto whole = [&](const Sharding& s) {
    return Sharding::replicated(static_cast<int64_t>(s.tiles.size()), marks.devices());
  };
  for (Computation* c : m.reachable())  // tiles that become larger or smaller ones
    for (Instruction* i : c->snapshot()) {
      const Sharding* to = marks.is_cut(i);
      const Sharding* from = to ? marks.joined(i->operand(0)) : nullptr;
      if (!from) continue;
      if (Instruction* tile = other_tile(i, *from, *to, channel)) i->replace_all_uses_with(tile);
    }
  for (Computation* c : m.reachable())
    for (Instruction* i : c->snapshot()) {
      const Sharding* s = marks.joined(i);
      if (!s || !wanted(i)) continue;
      const Sharding* cut = marks.is_cut(i->operand(0));
      const bool same = cut && *cut == *s;  // nobody worked on the tiles
      i->replace_all_uses_with(same ? i->operand(0)->operand(0)
                                    : gather(i, i->operand(0), *s, whole(*s), channel));
    }
  for (Computation* c : m.reachable())
    for (Instruction* i : c->snapshot())
      if (marks.is_whole(i)) i->replace_all_uses_with(i->operand(0));
  for (Computation* c : m.reachable())
    for (Instruction* i : c->snapshot())
      if (const Sharding* s = marks.is_cut(i); s && wanted(i)) {
        Instruction* scattered = scattered_sum(i, *s);
        i->replace_all_uses_with(scattered ? scattered : slice(i, i->operand(0), *s, whole(*s)));
      }
  // From the last to the first, so that a mark's users are gone before it.
  for (Computation* c : m.reachable()) {
    std::vector<Instruction*> all = c->snapshot();
    for (auto it = all.rbegin(); it != all.rend(); ++it)
      if (marks.is_mark(*it) && (*it)->users().empty()) c->erase(*it);
  }
}

}  // namespace armillary
