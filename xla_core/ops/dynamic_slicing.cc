// Rows that slice at positions known only at run time; positions are clamped so that the slice lies inside.
#include "xla_core/ops/index_recipes.h"
#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

// Start indices are scalars, one a dimension, or (older text) one vector.
void need_start_indices(Op op, const OpContext& c, int first) {
  const int64_t rank = c.operand(0).rank(), given = static_cast<int64_t>(c.operands.size()) - first;
  if (given == 1 && c.operand(first).rank() == 1) {
    need_array(op, c, first, kIntegerType);
    if (c.operand(first).dims[0] != rank)
      throw user_error("operand {} is {}, but {} needs {} start indices", first, to_string(c.operand(first)),
                       to_string(op), rank);
    return;
  }
  if (given != rank)
    throw user_error("{} has {} start indices, but operand 0 is {}", to_string(op), given,
                     to_string(c.operand(0)));
  for (int i = first; i < static_cast<int>(c.operands.size()); ++i) {
    need_scalar(op, c, i, kIntegerType);
    need_same_dtype(op, c, i, first);
  }
}

// Position in dimension d as s64 in [0, limit]. A u64 beyond s64 is huge, not negative.
Val start_index(TapeBuilder& b, const OpContext& c, int first, int64_t d, int64_t limit) {
  const bool vector = c.operand(first).rank() == 1;
  const std::vector<Val> at = vector ? std::vector<Val>{b.index_const(d)} : std::vector<Val>{};
  Val start = load_operand(b, c, vector ? first : first + static_cast<int>(d), at);
  if (start.dtype == DType::kU64) start = b.min(start, b.constant_int(DType::kU64, limit));
  return b.clamp_index(b.convert(start, DType::kS64), 0, limit);
}

Shape dynamic_slice_shape(const OpContext& c) {
  check_signature(Op::dynamic_slice, c);
  need_array(Op::dynamic_slice, c, 0);
  need_start_indices(Op::dynamic_slice, c, 1);
  const Dims& sizes = c.attrs.ints(Attr::dynamic_slice_sizes);
  const Shape& x = c.operand(0);
  if (static_cast<int64_t>(sizes.size()) != x.rank())
    throw user_error("dynamic_slice_sizes={} does not fit operand 0, which is {}", list(sizes), to_string(x));
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] < 0 || (x.dims[d] != Shape::kUnbounded && sizes[d] > x.dims[d]))
      throw user_error("dynamic_slice_sizes={} does not fit into operand 0, which is {}", list(sizes),
                       to_string(x));
  return array_result(c, x.dtype, sizes);
}

Val dynamic_slice_element(TapeBuilder& b, Index index, const OpContext& c, const Shape& result) {
  std::vector<Val> from;
  for (size_t d = 0; d < index.size(); ++d) {
    const int64_t limit = c.operand(0).dims[d] - result.dims[d];
    from.push_back(limit == 0 ? index[d]
                              : b.add(start_index(b, c, 1, static_cast<int64_t>(d), limit), index[d]));
  }
  return load_operand(b, c, 0, from);
}

Shape dynamic_update_slice_shape(const OpContext& c) {
  check_signature(Op::dynamic_update_slice, c);
  need_array(Op::dynamic_update_slice, c, 0);
  need_array(Op::dynamic_update_slice, c, 1);
  need_same_dtype(Op::dynamic_update_slice, c, 1, 0);
  need_rank(Op::dynamic_update_slice, c, 1, c.operand(0).rank());
  const Shape &x = c.operand(0), &update = c.operand(1);
  for (int64_t d = 0; d < x.rank(); ++d)
    if (update.dims[d] > x.dims[d] && x.dims[d] != Shape::kUnbounded)
      throw user_error("operand 1 is {}, but dynamic-update-slice needs an update that fits into {}",
                       to_string(update), to_string(x));
  need_start_indices(Op::dynamic_update_slice, c, 2);
  return array_result(c, x.dtype, x.dims);
}

Val dynamic_update_slice_element(TapeBuilder& b, Index index, const OpContext& c, const Shape& result) {
  const Shape& update = c.operand(1);
  const Val old = load_operand(b, c, 0, index);
  if (update.num_elements() == 0) return old;
  std::vector<Val> from;
  Val inside;
  for (size_t d = 0; d < index.size(); ++d) {
    const int64_t limit = result.dims[d] - update.dims[d];
    if (limit == 0) {
      from.push_back(index[d]);
      continue;
    }
    const Val offset = b.sub(index[d], start_index(b, c, 2, static_cast<int64_t>(d), limit));
    const Val here = b.bit_and(b.compare(Prim::kGe, offset, b.index_const(0)),
                               b.compare(Prim::kLt, offset, b.index_const(update.dims[d])));
    inside = inside.valid() ? b.bit_and(inside, here) : here;
    from.push_back(b.clamp_index(offset, 0, update.dims[d] - 1));
  }
  const Val fresh = load_operand(b, c, 1, from);
  return inside.valid() ? b.select(inside, fresh, old) : fresh;
}

// What is not overwritten stays where it is.
double update_bytes_read(const OpContext& c, int operand, const Shape&) {
  return operand == 0 ? 0 : static_cast<double>(c.operand(operand).byte_size());
}
double update_bytes_written(const OpContext& c, const Shape&) {
  return static_cast<double>(c.operand(1).byte_size());
}

}  // namespace

std::vector<OpDef> dynamic_slicing_rows() {
  return {
      {.op = Op::dynamic_slice,
       .stablehlo = "dynamic_slice",
       .arity = kVariadic,
       .attrs = {Attr::dynamic_slice_sizes},
       .doc = "A slice of given sizes at positions given by operands 1 and on, clamped to lie inside.",
       .infer = dynamic_slice_shape,
       .meaning = Meaning::kIndex,
       .element = dynamic_slice_element,
       .bytes_read = read_as_much_as_given},
      {.op = Op::dynamic_update_slice,
       .stablehlo = "dynamic_update_slice",
       .arity = kVariadic,
       .traits = kOverwrites | kExpensive,
       .doc = "Operand 0 with operand 1 written over it at positions given by operands 2 and on, clamped to "
              "lie inside.",
       .infer = dynamic_update_slice_shape,
       .meaning = Meaning::kIndex,
       .element = dynamic_update_slice_element,
       .bytes_read = update_bytes_read,
       .bytes_written = update_bytes_written},
  };
}

}  // namespace armillary
