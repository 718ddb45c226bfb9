#include "xla_core/spmd/marks.h"

#include <fmt/ranges.h>

#include <algorithm>

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
  if (s.summands == 1 && whole->is(Op::broadcast) && whole->operand(0)->dims().empty())
    return b.splat(s.local(whole->shape()), whole->operand(0));
  Instruction* mark = b.add(Op::custom_call, s.local(whole->shape()), {whole},
                            with(Attr::custom_call_target, std::string("spmd.cut")));
  cuts_[mark] = s;
  return mark;
}

Instruction* Marks::keep_whole(Build& b, Instruction* whole) {
  Instruction* mark = b.add(Op::custom_call, whole->shape(), {whole},
                            with(Attr::custom_call_target, std::string("spmd.whole")));
  wholes_.insert(mark);
  return mark;
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

int64_t next_channel(const Module& m) {
  int64_t last = 0;
  for (const Computation* c : m.reachable())
    for (const Instruction* i : c->instructions())
      last = std::max(last, i->attrs().integer(Attr::channel_id, 0));
  return last + 1;
}

Attrs collective(const std::vector<DeviceList>& groups, const Module& m, int64_t& channel) {
  Attrs attrs;
  attrs.set(Attr::replica_groups, RawText{groups_text(groups, m)});
  attrs.set(Attr::channel_id, channel++);
  attrs.set(Attr::use_global_device_ids, true);
  return attrs;
}

Instruction* sum(Build& b, Instruction* tile, const Sharding& s, int64_t& channel) {
  Attrs attrs = collective(s.summand_groups(), b.module(), channel);
  attrs.set(Attr::to_apply, b.scalar_body(Op::add, tile->dtype()));
  return b.add(Op::all_reduce, tile->shape(), {tile}, attrs);
}

// Summands are added; tiles stand side by side in a new dimension, then move to their places.
Instruction* gather(Instruction* mark, const Sharding& s, int64_t& channel) {
  Build b(mark);
  Instruction* tile = mark->operand(0);
  if (s.summands > 1) tile = sum(b, tile, s, channel);
  if (s.tile_count() == 1) return tile;
  Dims one = tile->dims();
  one.insert(one.begin(), 1);
  Dims all = one;
  all[0] = s.tile_count();
  Attrs attrs = collective(s.groups(), *mark->module(), channel);
  attrs.set(Attr::dimensions, Dims{0});
  Instruction* gathered = b.add(Op::all_gather, Shape(tile->dtype(), all), {b.reshape(tile, one)}, attrs);
  const auto rank = static_cast<int64_t>(s.tiles.size());
  Dims apart = s.tiles, permutation;
  apart.insert(apart.end(), tile->dims().begin(), tile->dims().end());
  for (int64_t d = 0; d < rank; ++d) permutation.insert(permutation.end(), {d, rank + d});
  return b.reshape(b.transpose(b.reshape(gathered, apart), permutation), mark->dims());
}

// The first summand is the tile, the others are zero.
Instruction* first_summand(Build& b, Instruction* tile, const Sharding& s) {
  Literal first(Shape(DType::kPred, {static_cast<int64_t>(s.summand_of.size())}));
  for (size_t d = 0; d < s.summand_of.size(); ++d) first.bytes()[d] = std::byte(s.summand_of[d] == 0);
  Instruction* device = b.convert(b.add(Op::partition_id, {}), DType::kS32);
  Instruction* mine = b.reshape(b.dynamic_slice(b.constant(std::move(first)), {device}, {1}), {});
  return b.select(b.broadcast(mine, tile->dims(), {}), tile, b.splat(tile->shape().without_layout(), 0.0));
}

Instruction* slice(Instruction* mark, const Sharding& s) {
  Build b(mark);
  if (s.tile_count() == 1) return first_summand(b, mark->operand(0), s);
  const auto rank = static_cast<int64_t>(s.tiles.size());
  Literal table(Shape(DType::kS32, {static_cast<int64_t>(s.tile_of.size()), rank}));
  auto* offsets = reinterpret_cast<int32_t*>(table.bytes());
  for (size_t device = 0; device < s.tile_of.size(); ++device) {
    const Dims tile = s.coordinates(static_cast<int64_t>(device));
    for (int64_t d = 0; d < rank; ++d) *offsets++ = static_cast<int32_t>(tile[d] * mark->dims()[d]);
  }
  Instruction* zero = b.scalar_int(DType::kS32, 0);
  Instruction* device = b.convert(b.add(Op::partition_id, {}), DType::kS32);
  Instruction* row = b.dynamic_slice(b.constant(std::move(table)), {device, zero}, {1, rank});
  std::vector<Instruction*> starts;
  for (int64_t d = 0; d < rank; ++d)
    starts.push_back(s.tiles[d] == 1 ? zero : b.reshape(b.slice(row, {{0, 1, 1}, {d, d + 1, 1}}), {}));
  Instruction* tile = b.dynamic_slice(mark->operand(0), starts, mark->dims());
  return s.summands == 1 ? tile : first_summand(b, tile, s);
}

}  // namespace

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
  for (Computation* c : m.reachable())
    for (Instruction* i : c->snapshot()) {
      const Sharding* s = marks.joined(i);
      if (!s || !wanted(i)) continue;
      const Sharding* cut = marks.is_cut(i->operand(0));
      const bool whole = cut && *cut == *s;  // nobody worked on the tiles
      i->replace_all_uses_with(whole ? i->operand(0)->operand(0) : gather(i, *s, channel));
    }
  for (Computation* c : m.reachable())
    for (Instruction* i : c->snapshot())
      if (marks.is_whole(i)) i->replace_all_uses_with(i->operand(0));
  for (Computation* c : m.reachable())
    for (Instruction* i : c->snapshot())
      if (const Sharding* s = marks.is_cut(i); s && wanted(i)) i->replace_all_uses_with(slice(i, *s));
  // From the last to the first, so that a mark's users are gone before it.
  for (Computation* c : m.reachable()) {
    std::vector<Instruction*> all = c->snapshot();
    for (auto it = all.rbegin(); it != all.rend(); ++it)
      if (marks.is_mark(*it) && (*it)->users().empty()) c->erase(*it);
  }
}

}  // namespace armillary
