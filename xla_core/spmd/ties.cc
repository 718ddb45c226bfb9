#include "xla_core/spmd/ties.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "xla_core/spmd/row_ties.h"

namespace armillary {

std::optional<Sharding> cut_further(const Sharding& s, int64_t dimension, const Sharding& other,
                                    int64_t from) {
  Sharding out = s;
  out.tiles[dimension] = other.tiles[from];
  std::vector<int64_t> holders(out.tile_count(), 0);
  for (size_t device = 0; device < s.tile_of.size(); ++device) {
    Dims at = s.coordinates(static_cast<int64_t>(device));
    at[dimension] = other.coordinates(static_cast<int64_t>(device))[from];
    ++holders[out.tile_of[device] = out.tile_at(at)];
  }
  const bool even = std::all_of(holders.begin(), holders.end(), [&](int64_t n) { return n == holders[0]; });
  return even ? std::optional(out) : std::nullopt;
}

namespace {

// Dimensions move from where they are cut in `from` to the place that `to` gives them.
Sharding moved(const Sharding& from, const Dims& to, size_t rank) {
  auto place = [&](const Dims& values, int64_t fill) {
    Dims out(rank, fill);
    for (size_t d = 0; d < to.size(); ++d)
      if (to[d] != kWhole && to[d] < static_cast<int64_t>(rank)) out[to[d]] = values[d];
    return out;
  };
  return from.mapped(place(from.tiles, 1), [&](const Dims& c) { return place(c, 0); });
}

// Of a reshape, in either direction: where a group of dimensions is cut into pieces that are contiguous, the
// group it becomes can be cut into the same.
std::optional<Sharding> reshaped(const Sharding& s, const Dims& from, const Dims& to) {
  Dims tiles(to.size(), 1);
  size_t i = 0, j = 0;
  std::vector<std::array<size_t, 4>> groups;
  while (i < from.size() || j < to.size()) {
    std::array<size_t, 4> group = {i, i, j, j};
    int64_t have = 1, want = 1, pieces = 1, left = 1;
    bool inner = false;  // a dimension that is not cut into single rows has been met
    do {
      const bool grow = i < from.size() && (have <= want || j == to.size());
      if (grow) {
        if (s.tiles[i] > 1 && inner) return {};
        inner |= s.tiles[i] != from[i];
        pieces *= s.tiles[i];
        have *= from[i++];
      } else {
        want *= to[j++];
      }
    } while (have != want && (i < from.size() || j < to.size()));
    if (have != want) return {};  // no elements
    group[1] = i, group[3] = j;
    left = pieces;
    for (size_t d = group[2]; d < j && left > 1; ++d) {
      if (to[d] == 0) return {};
      tiles[d] = std::min(left, to[d]);
      if (to[d] % tiles[d] != 0 || left % tiles[d] != 0) return {};
      left /= tiles[d];
      if (left > 1 && tiles[d] != to[d]) return {};
    }
    if (left > 1) return {};
    groups.push_back(group);
  }
  return s.mapped(tiles, [&](const Dims& c) {
    Dims out(to.size(), 0);
    for (const auto& [from_begin, from_end, to_begin, to_end] : groups) {
      int64_t piece = 0;
      for (size_t d = from_begin; d < from_end; ++d) piece = piece * s.tiles[d] + c[d];
      for (size_t d = to_end; d-- > to_begin; piece /= tiles[d]) out[d] = piece % tiles[d];
    }
    return out;
  });
}

// Sizes that an op's attributes state are those of the tile.
void localise_attributes(Instruction* tile, const Instruction& whole) {
  Attrs& a = tile->attrs();
  if (a.has(Attr::slice)) {
    Slices slices = a.slices();
    for (size_t d = 0; d < slices.size(); ++d)
      if (slices[d].start == 0 && slices[d].stride == 1) slices[d].limit = tile->dims()[d];
    a.set(Attr::slice, std::move(slices));
  }
  if (a.has(Attr::dynamic_slice_sizes)) a.set(Attr::dynamic_slice_sizes, tile->dims());
  if (tile->is(Op::gather)) {
    Dims sizes = parse_int_list(a.raw(Attr::slice_sizes));
    for (size_t d = 0; d < sizes.size(); ++d)
      if (sizes[d] == whole.operand(0)->dims()[d]) sizes[d] = tile->operand(0)->dims()[d];
    a.set(Attr::slice_sizes, RawText{fmt::format("{{{}}}", fmt::join(sizes, ","))});
  }
}

Instruction* iota_on_tiles(Build& b, const Instruction& i, const Sharding& s) {
  const int64_t d = i.attrs().integer(Attr::iota_dimension, 0);
  const Shape tile = s.local(i.shape().without_layout());
  Instruction* offset = tile_offsets(b, s, tile)[d];
  if (!offset) return b.iota(tile, d);
  // Counted in integers, as the whole is, whatever the type rounds to.
  const DType counts = i.shape().dims[d] > INT32_MAX ? DType::kS64 : DType::kS32;
  Shape integers = tile;
  integers.dtype = counts;
  Instruction* start = b.broadcast(b.convert(offset, counts), tile.dims, {});
  return b.convert(b.add(Op::add, {b.iota(integers, d), start}), tile.dtype);
}

// Cuts of the result's dimensions and of those that are summed over. The former come first: they need no sum.
Sharding work_sharding(const Ties& ties, const std::vector<std::optional<Sharding>>& cuts) {
  int64_t devices = 0;
  for (const auto& s : cuts)
    if (s) devices = static_cast<int64_t>(s->tile_of.size());
  Sharding work = Sharding::replicated(ties.rank() + ties.sums, devices);
  for (const bool in_result : {true, false})
    for (size_t k = 0; k < cuts.size(); ++k)
      for (size_t d = 0; cuts[k] && d < cuts[k]->tiles.size(); ++d) {
        const int64_t to = ties.along[k][d];
        if (cuts[k]->tiles[d] == 1 || to == kWhole || ties.in_result(to) != in_result) continue;
        if (work.tiles[to] != 1 || (in_result && !ties.free[to])) continue;
        if (auto more = cut_further(work, to, *cuts[k], static_cast<int64_t>(d))) work = std::move(*more);
      }
  return work;
}

// Where a device has one of several parts of what is summed over, it has a summand.
Sharding result_of(const Sharding& work, int64_t rank) {
  std::vector<bool> in_sum(work.tiles.size(), true);
  std::fill_n(in_sum.begin(), rank, false);
  const Sharding parts = work.restricted(in_sum);
  Dims to(rank);
  std::iota(to.begin(), to.end(), int64_t{0});
  to.resize(work.tiles.size(), kWhole);
  Sharding out = moved(work, to, rank);
  out.summands = parts.tile_count();
  if (out.summands > 1) out.summand_of = parts.tile_of;
  return out;
}

}  // namespace

std::optional<std::vector<Sharding>> operand_shardings(const Instruction& i, const Sharding& result) {
  if (result.summands != 1) return {};
  std::vector<Sharding> out;
  if (i.is(Op::reshape)) {
    const std::optional<Sharding> s = reshaped(result, i.dims(), i.operand(0)->dims());
    if (!s) return {};
    return std::vector<Sharding>{*s};
  }
  const std::optional<Ties> ties = ties_of(i);
  if (!ties) return {};
  for (size_t d = 0; d < ties->free.size(); ++d)
    if (result.tiles[d] != 1 && !ties->free[d]) return {};
  for (const Dims& along : ties->along) {
    Dims to(result.tiles.size(), kWhole);
    for (size_t d = 0; d < along.size(); ++d)
      if (ties->in_result(along[d])) to[along[d]] = static_cast<int64_t>(d);
    out.push_back(moved(result, to, along.size()));
  }
  return out;
}

std::optional<Sharding> result_sharding(const Instruction& i, int64_t k, const Sharding& operand) {
  if (operand.summands != 1) return {};
  if (i.is(Op::reshape)) return reshaped(operand, i.operand(0)->dims(), i.dims());
  const std::optional<Ties> ties = ties_of(i);
  if (!ties) return {};
  const Dims& along = ties->along[k];
  for (size_t d = 0; d < along.size(); ++d)
    if (operand.tiles[d] != 1 && (!ties->in_result(along[d]) || !ties->free[along[d]])) return {};
  return moved(operand, along, i.dims().size());
}

std::optional<Split> split(const Instruction& i, const std::vector<std::optional<Sharding>>& cuts) {
  if (i.is(Op::reshape)) {
    const std::optional<Sharding> result = result_sharding(i, 0, *cuts[0]);
    const auto back = result ? operand_shardings(i, *result) : std::nullopt;
    return back && back->front() == *cuts[0] ? std::optional(Split{*back, *result}) : std::nullopt;
  }
  const std::optional<Ties> ties = ties_of(i);
  if (!ties) return {};
  const Sharding work = work_sharding(*ties, cuts);
  if (work.tile_count() == 1) return {};
  Split out{.operands = {}, .result = result_of(work, ties->rank()), .combine = ties->combine};
  for (const Dims& along : ties->along) {
    Dims to(work.tiles.size(), kWhole);
    for (size_t d = 0; d < along.size(); ++d)
      if (along[d] != kWhole) to[along[d]] = static_cast<int64_t>(d);
    out.operands.push_back(moved(work, to, along.size()));
  }
  if (out.result.summands > 1 && ties->counted_once) {
    Sharding& once = out.operands[*ties->counted_once];
    once.summands = out.result.summands;
    once.summand_of = out.result.summand_of;
  }
  return out;
}

Instruction* on_tiles(Build& b, const Instruction& i, std::vector<Instruction*> operands,
                      const Sharding& result) {
  if (i.is(Op::iota)) return iota_on_tiles(b, i, result);
  Instruction* tile = b.clone(i, std::move(operands));
  tile->set_shape(result.local(i.shape()));
  localise_attributes(tile, i);
  return tile;
}

std::vector<Instruction*> tile_offsets(Build& b, const Sharding& s, const Shape& tile) {
  const auto rank = static_cast<int64_t>(s.tiles.size());
  Literal table(Shape(DType::kS32, {static_cast<int64_t>(s.tile_of.size()), rank}));
  auto* offsets = reinterpret_cast<int32_t*>(table.bytes());
  for (size_t device = 0; device < s.tile_of.size(); ++device) {
    const Dims at = s.coordinates(static_cast<int64_t>(device));
    for (int64_t d = 0; d < rank; ++d) *offsets++ = static_cast<int32_t>(at[d] * tile.dims[d]);
  }
  Instruction* device = b.convert(b.add(Op::partition_id, {}), DType::kS32);
  Instruction* row =
      b.dynamic_slice(b.constant(std::move(table)), {device, b.scalar_int(DType::kS32, 0)}, {1, rank});
  std::vector<Instruction*> out;
  for (int64_t d = 0; d < rank; ++d)
    out.push_back(s.tiles[d] == 1 ? nullptr : b.reshape(b.slice(row, {{0, 1, 1}, {d, d + 1, 1}}), {}));
  return out;
}

}  // namespace armillary
