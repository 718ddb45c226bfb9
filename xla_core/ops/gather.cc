// The row of gather: slices of operand 0 collected at positions that operand 1 holds.
#include "xla_core/ops/index_recipes.h"
#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

bool has_vector_dim(const OpContext& c) {
  return c.attrs.integer(Attr::index_vector_dim) < c.operand(1).rank();
}

// Checks 1 and 2: the slices fit, one size an operand dimension; dimensions that vanish have size 1.
void check_slice_sizes(const OpContext& c, const Dims& sizes) {
  const Shape& x = c.operand(0);
  if (static_cast<int64_t>(sizes.size()) != x.rank())
    throw user_error("slice_sizes={} of gather do not fit operand 0, which is {}", list(sizes), to_string(x));
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0 || (x.dims[d] != Shape::kUnbounded && sizes[d] > x.dims[d]))
      throw user_error("slice_sizes={} of gather do not fit into operand 0, which is {}", list(sizes),
                       to_string(x));
    const bool vanishes = contains_dim(c.attrs.ints(Attr::collapsed_slice_dims), d) ||
                          contains_dim(c.attrs.ints(Attr::operand_batching_dims), d);
    if (vanishes && sizes[d] > 1)
      throw user_error(
          "slice_sizes={} of gather must be at most 1 in dimension {}, which vanishes from the result",
          list(sizes), d);
  }
}

// Checks 3 to 6: dimension lists lie in range, are sorted and disjoint, and are as long as what they
// describe.
void check_dims(const OpContext& c) {
  const Shape &x = c.operand(0), &starts = c.operand(1);
  const Dims &collapsed = c.attrs.ints(Attr::collapsed_slice_dims),
             &map = c.attrs.ints(Attr::start_index_map);
  const Dims &batching = c.attrs.ints(Attr::operand_batching_dims),
             &start_batching = c.attrs.ints(Attr::start_indices_batching_dims);
  need_dims_sorted(Op::gather, "collapsed_slice_dims", collapsed, x.rank());
  need_dims_sorted(Op::gather, "operand_batching_dims", batching, x.rank());
  need_dims(Op::gather, "start_indices_batching_dims", start_batching, starts.rank());
  need_dims(Op::gather, "start_index_map", map, x.rank());
  for (int64_t d : batching)
    if (contains_dim(collapsed, d) || contains_dim(map, d))
      throw user_error(
          "operand_batching_dims={} of gather names dimension {}, which collapsed_slice_dims or "
          "start_index_map name too",
          list(batching), d);
  const int64_t vector_dim = c.attrs.integer(Attr::index_vector_dim);
  if (vector_dim < 0 || vector_dim > starts.rank())
    throw user_error("index_vector_dim={} of gather must lie in [0, {}]", vector_dim, starts.rank());
  const int64_t coordinates = has_vector_dim(c) ? starts.dims[vector_dim] : 1;
  if (!same_size(coordinates, static_cast<int64_t>(map.size())))
    throw user_error(
        "start_index_map={} of gather must name {} dimensions, as operand 1 is {} with index_vector_dim={}",
        list(map), coordinates, to_string(starts), vector_dim);
  if (batching.size() != start_batching.size())
    throw user_error(
        "operand_batching_dims={} and start_indices_batching_dims={} of gather must be equally long",
        list(batching), list(start_batching));
  for (size_t i = 0; i < batching.size(); ++i) {
    if (start_batching[i] == vector_dim)
      throw user_error("start_indices_batching_dims={} of gather names index_vector_dim",
                       list(start_batching));
    if (!same_size(x.dims[batching[i]], starts.dims[start_batching[i]]))
      throw user_error(
          "dimension {} of operand 0 and dimension {} of operand 1 of gather must have one size, but are {} "
          "and {}",
          batching[i], start_batching[i], x.dims[batching[i]], starts.dims[start_batching[i]]);
  }
}

Shape gather_shape(const OpContext& c) {
  check_signature(Op::gather, c);
  need_array(Op::gather, c, 0);
  need_array(Op::gather, c, 1, kIntegerType);
  const Dims sizes = parse_int_list(c.attrs.raw(Attr::slice_sizes));
  check_dims(c);
  check_slice_sizes(c, sizes);
  Dims window, batch;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (!contains_dim(c.attrs.ints(Attr::collapsed_slice_dims), d) &&
        !contains_dim(c.attrs.ints(Attr::operand_batching_dims), d))
      window.push_back(sizes[d]);
  for (int64_t d = 0; d < c.operand(1).rank(); ++d)
    if (d != c.attrs.integer(Attr::index_vector_dim)) batch.push_back(c.operand(1).dims[d]);
  const Dims& offset = c.attrs.ints(Attr::offset_dims);
  if (offset.size() != window.size())
    throw user_error(
        "offset_dims={} of gather must name {} dimensions, one for each slice dimension that stays",
        list(offset), window.size());
  const int64_t rank = static_cast<int64_t>(window.size() + batch.size());
  need_dims_sorted(Op::gather, "offset_dims", offset, rank);
  Dims dims;
  size_t w = 0, s = 0;
  for (int64_t d = 0; d < rank; ++d) dims.push_back(contains_dim(offset, d) ? window[w++] : batch[s++]);
  return array_result(c, c.operand(0).dtype, std::move(dims));
}

// The start of the slice in one operand dimension, clamped so that the slice lies inside.
Val slice_start(TapeBuilder& b, const OpContext& c, std::vector<Val> batch, int64_t coordinate,
                int64_t limit) {
  if (has_vector_dim(c))
    batch.insert(batch.begin() + c.attrs.integer(Attr::index_vector_dim), b.index_const(coordinate));
  Val start = load_operand(b, c, 1, batch);
  if (start.dtype == DType::kU64) start = b.min(start, b.constant_int(DType::kU64, limit));
  return b.clamp_index(b.convert(start, DType::kS64), 0, limit);
}

Val gather_element(TapeBuilder& b, Index index, const OpContext& c, const Shape&) {
  const Shape& x = c.operand(0);
  const Dims sizes = parse_int_list(c.attrs.raw(Attr::slice_sizes));
  const Dims &offset = c.attrs.ints(Attr::offset_dims), &collapsed = c.attrs.ints(Attr::collapsed_slice_dims),
             &map = c.attrs.ints(Attr::start_index_map);
  const Dims &batching = c.attrs.ints(Attr::operand_batching_dims),
             &start_batching = c.attrs.ints(Attr::start_indices_batching_dims);
  const int64_t vector_dim = c.attrs.integer(Attr::index_vector_dim);
  std::vector<Val> batch, window, from(x.rank());
  for (size_t d = 0; d < index.size(); ++d) (contains_dim(offset, d) ? window : batch).push_back(index[d]);
  // Slices without elements whose empty dimension vanishes: what the result holds comes from nowhere.
  if (contains_dim(sizes, 0)) return b.zero(x.dtype);
  size_t w = 0;
  for (int64_t d = 0; d < x.rank(); ++d)
    from[d] = contains_dim(collapsed, d) || contains_dim(batching, d) ? b.index_const(0) : window[w++];
  for (size_t i = 0; i < map.size(); ++i) {
    const int64_t limit = x.dims[map[i]] - sizes[map[i]];
    if (limit > 0)
      from[map[i]] = b.add(from[map[i]], slice_start(b, c, batch, static_cast<int64_t>(i), limit));
  }
  for (size_t i = 0; i < batching.size(); ++i)  // batch dimensions are counted without the index vector
    from[batching[i]] = batch[start_batching[i] - (start_batching[i] > vector_dim)];
  return load_operand(b, c, 0, from);
}

}  // namespace

std::vector<OpDef> gather_rows() {
  return {
      {.op = Op::gather,
       .stablehlo = "gather",
       .arity = 2,
       .traits = kExpensive,
       .attrs = {Attr::offset_dims, Attr::collapsed_slice_dims, Attr::start_index_map, Attr::index_vector_dim,
                 Attr::slice_sizes},
       .optional = {Attr::operand_batching_dims, Attr::start_indices_batching_dims, Attr::indices_are_sorted,
                    Attr::unique_indices, Attr::mode},
       .doc = "Collects slices of operand 0 at the positions in operand 1, clamped to lie inside.",
       .infer = gather_shape,
       .meaning = Meaning::kIndex,
       .element = gather_element,
       .reads =
           [](const OpContext& c, int operand) {
             return operand == 1 ? static_cast<double>(c.attrs.ints(Attr::start_index_map).size()) : 1.0;
           },
       .bytes_read = read_as_much_as_given},
  };
}

}  // namespace armillary
