// Rows about dimensions whose size is known only at run time.
#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

int64_t the_dimension(Op op, const OpContext& c) {
  check_signature(op, c);
  need_array(op, c, 0);
  const Dims& dims = c.attrs.ints(Attr::dimensions);
  if (dims.size() != 1)
    throw user_error("dimensions={} of {} must name one dimension", list(dims), to_string(op));
  need_dim(op, "dimensions", dims[0], c.operand(0).rank());
  return dims[0];
}

Shape get_dimension_size_shape(const OpContext& c) {
  the_dimension(Op::get_dimension_size, c);
  return Shape::scalar(DType::kS32);
}

Shape set_dimension_size_shape(const OpContext& c) {
  const int64_t d = the_dimension(Op::set_dimension_size, c);
  need_scalar(Op::set_dimension_size, c, 1, kSignedType);
  Shape result = c.operand(0).without_layout();
  if (c.stated != nullptr && agree(result, *c.stated))
    return c.stated->without_layout();  // a constant full size may leave it static
  result.dynamic.resize(result.dims.size());
  result.dynamic[d] = true;
  return result;
}

Shape dynamic_reshape_shape(const OpContext& c) {
  check_signature(Op::dynamic_reshape, c);
  need_array(Op::dynamic_reshape, c, 0);
  const Shape& result = stated_shape(Op::dynamic_reshape, c);
  if (result.rank() + 1 != static_cast<int64_t>(c.operands.size()))
    throw user_error("dynamic-reshape has {} sizes, but gives {}", c.operands.size() - 1, to_string(result));
  for (int i = 1; i < static_cast<int>(c.operands.size()); ++i)
    need_scalar(Op::dynamic_reshape, c, i, kIntegerType);
  return array_result(c, c.operand(0).dtype, result.dims);
}

}  // namespace

std::vector<OpDef> dynamic_shape_rows() {
  return {
      {.op = Op::get_dimension_size,
       .stablehlo = "get_dimension_size",
       .arity = 1,
       .attrs = {Attr::dimensions},
       .doc = "The size of one dimension at run time.",
       .infer = get_dimension_size_shape},
      {.op = Op::set_dimension_size,
       .stablehlo = "set_dimension_size",
       .arity = 2,
       .attrs = {Attr::dimensions},
       .doc = "Its operand with one dimension shortened to operand 1.",
       .infer = set_dimension_size_shape},
      {.op = Op::dynamic_reshape,
       .stablehlo = "dynamic_reshape",
       .arity = kVariadic,
       .traits = kNeedsShape | kCannotRun,
       .doc = "A reshape whose sizes are operands.",
       .infer = dynamic_reshape_shape},
  };
}

}  // namespace armillary
