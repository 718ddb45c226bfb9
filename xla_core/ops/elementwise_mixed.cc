// Rows of elementwise ops whose operands differ in type or may be scalars beside arrays.
// Readers of a scalar recipe load a scalar operand at the empty index when the result is an array.
#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

Val select_scalar(TapeBuilder& b, Xs x, const OpContext&, DType) { return b.select(x[0], x[1], x[2]); }

Shape select_shape(const OpContext& c) {
  check_signature(Op::select, c);
  need_array(Op::select, c, 0, kPredType);
  need_array(Op::select, c, 1);
  need_same_shape(Op::select, c, 2, 1);
  if (!c.operand(0).is_scalar()) need_same_dims(Op::select, c, 0, 1);
  return array_result(c, c.operand(1).dtype, c.operand(1).dims);
}

// min(max(x, low), high): NaN anywhere gives NaN, as min and max do.
Val clamp_scalar(TapeBuilder& b, Xs x, const OpContext&, DType) { return b.min(b.max(x[1], x[0]), x[2]); }

Shape clamp_shape(const OpContext& c) {
  check_signature(Op::clamp, c);
  need_array(Op::clamp, c, 1, kRealType | kPredType);
  for (int bound : {0, 2}) {
    need_array(Op::clamp, c, bound);
    need_same_dtype(Op::clamp, c, bound, 1);
    if (!c.operand(bound).is_scalar()) need_same_dims(Op::clamp, c, bound, 1);
  }
  return array_result(c, c.operand(1).dtype, c.operand(1).dims);
}

}  // namespace

std::vector<OpDef> elementwise_mixed_rows() {
  return {
      {.op = Op::select,
       .stablehlo = "select",
       .arity = 3,
       .traits = kElementwise,
       .doc = "Operand 1 where operand 0 is true, else operand 2; a scalar predicate chooses for all.",
       .infer = select_shape,
       .meaning = Meaning::kScalar,
       .scalar = select_scalar},
      {.op = Op::clamp,
       .stablehlo = "clamp",
       .arity = 3,
       .traits = kElementwise,
       .doc = "Operand 1 kept between operand 0 and operand 2, which may be scalars.",
       .infer = clamp_shape,
       .meaning = Meaning::kScalar,
       .scalar = clamp_scalar},
  };
}

}  // namespace armillary
