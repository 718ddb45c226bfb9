// Rows that only move elements: shape inference and checks here, index recipes in index_recipes.cc.
#include "xla_core/ops/index_recipes.h"
#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

Shape broadcast_shape(const OpContext& c) {
  check_signature(Op::broadcast, c);
  need_array(Op::broadcast, c, 0);
  const Dims& map = c.attrs.ints(Attr::dimensions);
  const Shape& x = c.operand(0);
  if (static_cast<int64_t>(map.size()) != x.rank())
    throw user_error("dimensions={} of broadcast must name one dimension for each of operand 0, which is {}",
                     list(map), to_string(x));
  const Shape& result = stated_shape(Op::broadcast, c);
  if (!result.is_array()) throw user_error("broadcast gives {}, but must give an array", to_string(result));
  need_dims(Op::broadcast, "dimensions", map, result.rank());
  for (size_t i = 0; i < map.size(); ++i)
    if (!same_size(x.dims[i], result.dims[map[i]]))
      throw user_error(
          "operand 0 is {}, but broadcast needs size {} in dimension {} (dimension {} of the result)",
          to_string(x), result.dims[map[i]], i, map[i]);
  return array_result(c, x.dtype, result.dims);
}

Shape transpose_shape(const OpContext& c) {
  check_signature(Op::transpose, c);
  need_array(Op::transpose, c, 0);
  const Shape& x = c.operand(0);
  const Dims& permutation = c.attrs.ints(Attr::dimensions);
  if (static_cast<int64_t>(permutation.size()) != x.rank())
    throw user_error("dimensions={} of transpose must be a permutation of the {} dimensions of operand 0",
                     list(permutation), x.rank());
  need_dims(Op::transpose, "dimensions", permutation, x.rank());
  Dims dims;
  for (int64_t d : permutation) dims.push_back(x.dims[d]);
  return array_result(c, x.dtype, std::move(dims));
}

Shape reshape_shape(const OpContext& c) {
  check_signature(Op::reshape, c);
  need_array(Op::reshape, c, 0);
  const Shape& result = stated_shape(Op::reshape, c);
  if (!result.is_array() || contains_dim(result.dims, Shape::kUnbounded) ||
      contains_dim(c.operand(0).dims, Shape::kUnbounded))
    return array_result(c, c.operand(0).dtype, result.dims);
  if (result.num_elements() != c.operand(0).num_elements())
    throw user_error("operand 0 is {} with {} elements, but reshape needs {} for {}", to_string(c.operand(0)),
                     c.operand(0).num_elements(), result.num_elements(), to_string(result));
  return array_result(c, c.operand(0).dtype, result.dims);
}

Shape reverse_shape(const OpContext& c) {
  check_signature(Op::reverse, c);
  need_array(Op::reverse, c, 0);
  need_dims(Op::reverse, "dimensions", c.attrs.ints(Attr::dimensions), c.operand(0).rank());
  return array_result(c, c.operand(0).dtype, c.operand(0).dims);
}

// 1: a range per dimension; 2: 0 <= start <= limit <= size; 3: stride of at least 1.
Shape slice_shape(const OpContext& c) {
  check_signature(Op::slice, c);
  need_array(Op::slice, c, 0);
  const Shape& x = c.operand(0);
  const Slices& slices = c.attrs.slices();
  if (static_cast<int64_t>(slices.size()) != x.rank())
    throw user_error("slice has {} ranges, but operand 0 is {}", slices.size(), to_string(x));
  Dims dims;
  for (size_t d = 0; d < slices.size(); ++d) {
    const SliceDim& s = slices[d];
    if (s.stride < 1) throw user_error("stride {} of slice in dimension {} must be at least 1", s.stride, d);
    if (s.start < 0 || s.limit < s.start || (x.dims[d] != Shape::kUnbounded && s.limit > x.dims[d]))
      throw user_error("slice [{}:{}] in dimension {} does not lie inside operand 0, which is {}", s.start,
                       s.limit, d, to_string(x));
    const int64_t length = s.limit - s.start;
    dims.push_back(length / s.stride + (length % s.stride != 0));
  }
  return array_result(c, x.dtype, std::move(dims));
}

// 1: operand 1 is a scalar of the same type; 2: a triple per dimension; 3: interior >= 0; 4: no negative
// size.
Shape pad_shape(const OpContext& c) {
  check_signature(Op::pad, c);
  need_array(Op::pad, c, 0);
  need_scalar(Op::pad, c, 1, kAnyType);
  need_same_dtype(Op::pad, c, 1, 0);
  const Shape& x = c.operand(0);
  static const Padding kNone;
  const Padding& padding = c.attrs.has(Attr::padding) ? c.attrs.padding() : kNone;
  if (static_cast<int64_t>(padding.size()) != x.rank())
    throw user_error("padding of pad has {} dimensions, but operand 0 is {}", padding.size(), to_string(x));
  Dims dims;
  for (size_t d = 0; d < padding.size(); ++d) {
    const PadDim& p = padding[d];
    if (p.interior < 0)
      throw user_error("interior padding {} of pad in dimension {} must not be negative", p.interior, d);
    if (x.dims[d] == Shape::kUnbounded) {
      dims.push_back(Shape::kUnbounded);
      continue;
    }
    const __int128 size = static_cast<__int128>(x.dims[d]) + p.low + p.high +
                          (x.dims[d] > 0 ? static_cast<__int128>(x.dims[d] - 1) * p.interior : 0);
    if (size < 0 || size > std::numeric_limits<int64_t>::max())
      throw user_error("padding {}_{}_{} of pad makes the size of dimension {} of {} impossible", p.low,
                       p.high, p.interior, d, to_string(x));
    dims.push_back(static_cast<int64_t>(size));
  }
  return array_result(c, x.dtype, std::move(dims));
}

Shape concatenate_shape(const OpContext& c) {
  check_signature(Op::concatenate, c);
  need_array(Op::concatenate, c, 0);
  const Shape& first = c.operand(0);
  const Dims& along = c.attrs.ints(Attr::dimensions);
  if (along.size() != 1)
    throw user_error("dimensions={} of concatenate must name one dimension", list(along));
  need_dim(Op::concatenate, "dimensions", along[0], first.rank());
  Dims dims = first.dims;
  for (int i = 1; i < static_cast<int>(c.operands.size()); ++i) {
    const Shape& x = c.operand(i);
    need_same_dtype(Op::concatenate, c, i, 0);
    need_rank(Op::concatenate, c, i, first.rank());
    for (int64_t d = 0; d < first.rank(); ++d) {
      if (d == along[0]) {
        if (__builtin_add_overflow(dims[d] == Shape::kUnbounded ? 0 : dims[d],
                                   x.dims[d] == Shape::kUnbounded ? 0 : x.dims[d], &dims[d]))
          throw user_error("the sizes concatenate joins exceed 2^63");
        if (x.dims[d] == Shape::kUnbounded || first.dims[d] == Shape::kUnbounded) dims[d] = Shape::kUnbounded;
      } else if (!same_size(x.dims[d], first.dims[d])) {
        throw user_error("operand {} is {}, but concatenate along dimension {} needs size {} in dimension {}",
                         i, to_string(x), along[0], first.dims[d], d);
      }
    }
  }
  return array_result(c, first.dtype, std::move(dims));
}

Shape iota_shape(const OpContext& c) {
  check_signature(Op::iota, c);
  const Shape& result = stated_shape(Op::iota, c);
  if (!contains(kAnyType, result.dtype))
    throw user_error("iota gives {}, but must give an array", to_string(result));
  if (result.rank() == 0 && !c.attrs.has(Attr::iota_dimension)) return array_result(c, result.dtype, {});
  const int64_t along = c.attrs.integer(Attr::iota_dimension, 0);
  if (result.rank() > 1 && !c.attrs.has(Attr::iota_dimension))
    throw user_error("iota needs the attribute iota_dimension");
  need_dim(Op::iota, "iota_dimension", along, result.rank());
  return array_result(c, result.dtype, result.dims);
}

// Anything may be copied, tuples and tokens too.
Shape copy_shape(const OpContext& c) {
  check_signature(Op::copy, c);
  return c.operand(0).is_array() ? array_result(c, c.operand(0).dtype, c.operand(0).dims)
                                 : c.operand(0).without_layout();
}

// The same bytes seen as another shape; tiles may pad them, so only untiled shapes must have equal sizes.
Shape bitcast_shape(const OpContext& c) {
  check_signature(Op::bitcast, c);
  const Shape& result = stated_shape(Op::bitcast, c);
  const Shape& x = c.operand(0);
  if (!x.is_array() || !result.is_array())
    throw user_error("operand 0 is {} and the result {}, but bitcast needs arrays", to_string(x),
                     to_string(result));
  const bool tiled =
      (x.layout && !x.layout->tiles.empty()) || (result.layout && !result.layout->tiles.empty());
  if (!tiled && x.num_elements() * bit_width(x.dtype) != result.num_elements() * bit_width(result.dtype))
    throw user_error("operand 0 is {}, but bitcast needs as many bits as {}", to_string(x),
                     to_string(result));
  return array_result(c, result.dtype, result.dims);
}

OpDef index_row(Op op, std::string_view stablehlo, int arity, Shape (*infer)(const OpContext&),
                decltype(OpDef::element) element) {
  return {.op = op,
          .stablehlo = stablehlo,
          .arity = arity,
          .infer = infer,
          .meaning = Meaning::kIndex,
          .element = element};
}
OpDef with(OpDef row, std::vector<Attr> attrs, std::string_view doc, uint32_t traits = 0) {
  row.attrs = std::move(attrs);
  row.doc = doc;
  row.traits = traits;
  return row;
}

}  // namespace

std::vector<OpDef> data_movement_rows() {
  std::vector<OpDef> rows = {
      with(index_row(Op::broadcast, "broadcast_in_dim", 1, broadcast_shape, broadcast_element), {},
           "Repeats the operand along the result dimensions that `dimensions` does not name.",
           kNeedsShape | kFree),
      with(index_row(Op::transpose, "transpose", 1, transpose_shape, transpose_element), {Attr::dimensions},
           "Result dimension i is operand dimension `dimensions`[i].", kFree),
      with(index_row(Op::reshape, "reshape", 1, reshape_shape, reshape_element), {},
           "The same elements in row-major order under other dimensions.", kNeedsShape | kRenames | kFree),
      with(index_row(Op::reverse, "reverse", 1, reverse_shape, reverse_element), {Attr::dimensions},
           "Runs backwards along `dimensions`.", kFree),
      with(index_row(Op::slice, "slice", 1, slice_shape, slice_element), {Attr::slice},
           "Every stride-th element of [start, limit) in each dimension.", kFree),
      with(index_row(Op::pad, "pad", 2, pad_shape, pad_element), {},
           "Puts operand 1 before, after and between elements; negative padding cuts.", kPiecewise),
      with(index_row(Op::concatenate, "concatenate", kVariadic, concatenate_shape, concatenate_element),
           {Attr::dimensions}, "Puts the operands one after another along one dimension.", kPiecewise),
      with(index_row(Op::iota, "iota", 0, iota_shape, iota_element), {},
           "Counts 0, 1, 2, ... along `iota_dimension`.", kNeedsShape | kFree),
      with(index_row(Op::copy, "", 1, copy_shape, copy_element), {},
           "The same value in memory of its own, perhaps with another layout."),
      with(index_row(Op::bitcast, "", 1, bitcast_shape, bitcast_element), {},
           "The same bytes under another shape and layout.", kNeedsShape | kRenames | kFree),
  };
  for (OpDef& row : rows) {
    if (row.op == Op::broadcast) row.optional = {Attr::dimensions};  // of a scalar it may be left out
    if (row.op == Op::pad) row.optional = {Attr::padding};
    if (row.op == Op::iota) row.optional = {Attr::iota_dimension};
    if (row.op == Op::copy) row.optional = {Attr::cross_program_prefetch_index};
    if (row.op == Op::reshape) row.optional = {Attr::dimensions, Attr::inferred_dimension};
    if (row.op == Op::slice) row.bytes_read = read_as_much_as_given;
  }
  return rows;
}

}  // namespace armillary
