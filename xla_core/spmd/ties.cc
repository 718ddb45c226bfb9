#include "xla_core/spmd/ties.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "xla_core/interp/interpreter.h"

namespace armillary {
namespace {

constexpr int64_t kWhole = -1;

// The result's dimensions that may be cut, and for each operand's dimension the one it is cut with, or
// kWhole. Dimensions that are summed over are numbered behind those of the result.
struct Ties {
  std::vector<bool> free;
  std::vector<Dims> along;
  int64_t sums = 0;
  Op combine = Op::add;

  int64_t rank() const { return static_cast<int64_t>(free.size()); }
  bool in_result(int64_t dimension) const { return dimension != kWhole && dimension < rank(); }
};

// Runs an index recipe and notes at which of the result's indices operands are read, and whether an index is
// used in any other way.
class Reads : public TapeBuilder {
 public:
  Reads(Tape& tape, const Instruction& i) : TapeBuilder(tape), i_(i) {
    for (size_t d = 0; d < i.dims().size(); ++d)
      index_.push_back(
          {push({Prim::kIndex, DType::kS64, 0, -1, -1, -1, static_cast<int64_t>(d)}), -1, DType::kS64});
    ties_.free.assign(i.dims().size(), true);
    for (const Instruction* o : i.operands()) ties_.along.emplace_back(o->dims().size(), kWhole);
    seen_.resize(i.num_operands());
  }

  Val load(int operand, DType dtype, std::span<const int64_t>, std::span<const Val> index) override {
    Dims along;
    for (size_t d = 0; d < index.size(); ++d)
      along.push_back(dimension(index[d], i_.operand(operand)->dims()[d]));
    if (seen_[operand] && along != ties_.along[operand]) consistent_ = false;
    seen_[operand] = true;
    ties_.along[operand] = std::move(along);
    return TapeBuilder::load(operand, dtype, {}, {});
  }

  std::optional<Ties> run() {
    const Instruction::ContextStorage storage = i_.context_storage();
    i_.def().element(*this, index_, storage.context(i_.attrs(), nullptr), i_.shape());
    if (!consistent_) return {};
    for (const TapeNode& n : tape_.nodes)
      for (int32_t use : {n.a, n.b, n.c})
        if (use >= 0 && use < static_cast<int32_t>(index_.size())) ties_.free[use] = false;
    return ties_;
  }

 private:
  int64_t dimension(Val index, int64_t size) {
    if (index.re >= static_cast<int32_t>(index_.size())) return kWhole;
    if (i_.dims()[index.re] == size) return index.re;
    ties_.free[index.re] = false;  // a part of the operand's dimension
    return kWhole;
  }

  const Instruction& i_;
  std::vector<Val> index_;
  std::vector<bool> seen_;
  bool consistent_ = true;
  Ties ties_;
};

Dims counting(size_t n) {
  Dims out;
  for (size_t d = 0; d < n; ++d) out.push_back(static_cast<int64_t>(d));
  return out;
}

std::optional<Ties> of_elementwise(const Instruction& i) {
  Ties ties{std::vector<bool>(i.dims().size(), true), {}};
  for (const Instruction* o : i.operands()) {
    if (o->dims() != i.dims() && !o->dims().empty()) return {};
    ties.along.push_back(counting(o->dims().size()));
  }
  return ties;
}

// What a reduction folds with, if it may fold parts first, each with the initial value.
std::optional<Op> folds_parts_with(const Instruction& i) {
  const Computation& body = *i.attrs().callee(Attr::to_apply);
  const Instruction& root = *body.root();
  const bool is_single = root.def().identity && root.operand(0)->is(Op::parameter) &&
                         root.operand(1)->is(Op::parameter) && root.operand(0) != root.operand(1);
  if (!is_single || !i.operand(1)->is(Op::constant)) return {};
  const Literal& initial = i.operand(1)->literal();
  const std::vector<Literal> twice = {initial, initial};
  return evaluate(body, twice) == initial ? std::optional(root.op()) : std::nullopt;
}

// One array.
std::optional<Ties> of_reduce(const Instruction& i) {
  if (!i.shape().is_array() || i.num_operands() != 2) return {};
  const Dims& gone = i.attrs().ints(Attr::dimensions);
  const std::optional<Op> combine = folds_parts_with(i);
  Ties ties{std::vector<bool>(i.dims().size(), true), {{}, {}}};
  if (combine) ties.combine = *combine;
  int64_t kept = 0;
  for (int64_t d = 0; d < i.operand(0)->shape().rank(); ++d) {
    const bool is_kept = std::find(gone.begin(), gone.end(), d) == gone.end();
    ties.along[0].push_back(is_kept ? kept++ : combine ? ties.rank() + ties.sums++ : kWhole);
  }
  return ties;
}

// The result's dimensions: batches, then free ones of lhs, then of rhs.
std::optional<Ties> of_dot(const Instruction& i) {
  Ties ties{std::vector<bool>(i.dims().size(), true), {}};
  const Attrs& a = i.attrs();
  const bool sums = i.dtype() != DType::kPred;
  auto next = static_cast<int64_t>(a.ints(Attr::lhs_batch_dims).size());
  for (int side : {0, 1}) {
    const Dims& batch = a.ints(side == 0 ? Attr::lhs_batch_dims : Attr::rhs_batch_dims);
    const Dims& contracting = a.ints(side == 0 ? Attr::lhs_contracting_dims : Attr::rhs_contracting_dims);
    Dims along(i.operand(side)->dims().size(), kWhole);
    for (size_t k = 0; k < batch.size(); ++k) along[batch[k]] = static_cast<int64_t>(k);
    for (int64_t d = 0; d < static_cast<int64_t>(along.size()); ++d)
      if (along[d] == kWhole && std::find(contracting.begin(), contracting.end(), d) == contracting.end())
        along[d] = next++;
    for (size_t k = 0; sums && k < contracting.size(); ++k)
      along[contracting[k]] = ties.rank() + static_cast<int64_t>(k);
    ties.sums = sums ? static_cast<int64_t>(contracting.size()) : 0;
    ties.along.push_back(std::move(along));
  }
  return ties;
}

// Windows see space whole, and groups of features their features.
std::optional<Ties> of_convolution(const Instruction& i) {
  const Attrs& a = i.attrs();
  const ConvDims& at = a.conv_dims();
  const bool grouped =
      a.integer(Attr::feature_group_count, 1) != 1 || a.integer(Attr::batch_group_count, 1) != 1;
  Ties ties{std::vector<bool>(i.dims().size(), false), {}};
  for (const Instruction* o : i.operands()) ties.along.emplace_back(o->dims().size(), kWhole);
  if (a.integer(Attr::batch_group_count, 1) == 1) {
    ties.free[at.output_batch] = true;
    ties.along[0][at.input_batch] = at.output_batch;
  }
  if (grouped) return ties;
  ties.free[at.output_feature] = true;
  ties.along[1][at.kernel_output_feature] = at.output_feature;
  ties.sums = 1;
  ties.along[0][at.input_feature] = ties.along[1][at.kernel_input_feature] = ties.rank();
  return ties;
}

std::optional<Ties> ties_of(const Instruction& i) {
  if (!i.shape().is_array() || i.has_effect()) return {};
  if (i.has(kElementwise)) return of_elementwise(i);
  if (i.is(Op::iota)) return Ties{std::vector<bool>(i.dims().size(), true), {}};
  if (i.is(Op::reduce)) return of_reduce(i);
  if (i.is(Op::dot)) return of_dot(i);
  if (i.is(Op::convolution)) return of_convolution(i);
  if (i.def().meaning != Meaning::kIndex || !i.def().element) return {};
  Tape tape;
  return Reads(tape, i).run();
}

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

// `s`, cut along `dimension` as well, as `other` is along `from`; nothing where some of the tiles were
// nobody's.
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
