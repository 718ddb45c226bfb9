// Rows of the batch normalisation ops, which a pass writes out.
#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

// Operands `vectors` hold a number a feature; the rest have operand 0's shape.
Shape feature_vector(Op op, const OpContext& c, std::initializer_list<int> vectors,
                     std::initializer_list<int> arrays) {
  check_signature(op, c);
  need_array(op, c, 0, kInexactType);
  const Shape& x = c.operand(0);
  const int64_t feature = c.attrs.integer(Attr::feature_index);
  need_dim(op, "feature_index", feature, x.rank());
  const Shape vector(x.dtype, {x.dims[feature]});
  for (int i : vectors) need_shape(op, c, i, vector);
  for (int i : arrays) need_same_shape(op, c, i, 0);
  return vector;
}

Shape training_shape(const OpContext& c) {
  const Shape vector = feature_vector(Op::batch_norm_training, c, {1, 2}, {});
  return Shape::make_tuple({c.operand(0).without_layout(), vector, vector});
}
Shape inference_shape(const OpContext& c) {
  feature_vector(Op::batch_norm_inference, c, {1, 2, 3, 4}, {});
  return array_result(c, c.operand(0).dtype, c.operand(0).dims);
}
Shape grad_shape(const OpContext& c) {
  const Shape vector = feature_vector(Op::batch_norm_grad, c, {1, 2, 3}, {4});
  return Shape::make_tuple({c.operand(0).without_layout(), vector, vector});
}

}  // namespace

std::vector<OpDef> batch_norm_rows() {
  const std::vector<Attr> attrs = {Attr::epsilon, Attr::feature_index};
  return {
      {.op = Op::batch_norm_training,
       .stablehlo = "batch_norm_training",
       .arity = 3,
       .attrs = attrs,
       .doc = "Normalises by the batch's own mean and variance and gives them too: (result, mean, variance).",
       .infer = training_shape,
       .meaning = Meaning::kExpand},
      {.op = Op::batch_norm_inference,
       .stablehlo = "batch_norm_inference",
       .arity = 5,
       .attrs = attrs,
       .doc = "Normalises by a given mean and variance.",
       .infer = inference_shape,
       .meaning = Meaning::kExpand},
      {.op = Op::batch_norm_grad,
       .stablehlo = "batch_norm_grad",
       .arity = 5,
       .attrs = attrs,
       .doc = "Gradients of batch-norm-training: (operand's, scale's, offset's).",
       .infer = grad_shape,
       .meaning = Meaning::kExpand},
  };
}

}  // namespace armillary
