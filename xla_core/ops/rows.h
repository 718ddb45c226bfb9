// Makers of rows and the families that op.cc joins into the table; each family lives in a file named after
// it.
#pragma once

#include <algorithm>

#include "xla_core/ops/checks.h"

namespace armillary {

using Xs = std::span<const Val>;

std::vector<OpDef> elementwise_unary_rows();
std::vector<OpDef> elementwise_binary_rows();
std::vector<OpDef> elementwise_mixed_rows();
std::vector<OpDef> conversion_rows();
std::vector<OpDef> data_movement_rows();
std::vector<OpDef> dynamic_slicing_rows();
std::vector<OpDef> gather_rows();
std::vector<OpDef> scatter_rows();
std::vector<OpDef> sorting_rows();
std::vector<OpDef> contraction_rows();
std::vector<OpDef> convolution_rows();
std::vector<OpDef> reduction_rows();
std::vector<OpDef> window_rows();
std::vector<OpDef> control_rows();
std::vector<OpDef> async_rows();
std::vector<OpDef> collective_rows();
std::vector<OpDef> transfer_rows();
std::vector<OpDef> linear_algebra_rows();
std::vector<OpDef> batch_norm_rows();
std::vector<OpDef> random_rows();
std::vector<OpDef> dynamic_shape_rows();
std::vector<OpDef> custom_call_rows();

// Recipes that are one call of the builder.
template <auto kMethod>
Val call_unary(TapeBuilder& b, Xs x, const OpContext&, DType) {
  return (b.*kMethod)(x[0]);
}
template <auto kMethod>
Val call_binary(TapeBuilder& b, Xs x, const OpContext&, DType) {
  return (b.*kMethod)(x[0], x[1]);
}

// Traffic of ops that look at a part of operand 0, as large as the result.
inline double read_as_much_as_given(const OpContext& c, int operand, const Shape& result) {
  const double all = static_cast<double>(c.operand(operand).byte_size());
  return operand == 0 ? std::min(all, static_cast<double>(result.byte_size())) : all;
}

// Inference of elementwise ops: every operand has the dims and dtype of the first, taken from kTypes; the
// result too.
template <Op kOp, uint32_t kTypes>
Shape same_as_operands(const OpContext& c) {
  check_signature(kOp, c);
  need_array(kOp, c, 0, kTypes);
  for (int i = 1; i < static_cast<int>(c.operands.size()); ++i) need_same_shape(kOp, c, i, 0);
  Dims dims = c.operand(0).dims;
  for (const Shape* x : c.operands)
    for (size_t d = 0; d < dims.size(); ++d)
      if (dims[d] == Shape::kUnbounded) dims[d] = x->dims[d];
  return array_result(c, c.operand(0).dtype, std::move(dims));
}

}  // namespace armillary
