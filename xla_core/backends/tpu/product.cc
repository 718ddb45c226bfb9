#include "xla_core/backends/tpu/product.h"

#include <algorithm>

#include "xla_core/analysis/cost.h"
#include "xla_core/analysis/precision.h"

namespace armillary::tpu {
namespace {

constexpr int kRealProducts = 4;  // in one of complex numbers
constexpr int kPassesOfF64 = 36;  // assumed: six bf16 parts an operand; a TPU has no f64

int64_t extent(const Dims& dims, const Dims& chosen) {
  int64_t n = 1;
  for (int64_t d : chosen) n *= dims[d];
  return n;
}

Product of_dot(const Instruction& i) {
  Product p;
  const Dims& left = i.operand(0)->dims();
  p.batch = extent(left, i.attrs().ints(Attr::lhs_batch_dims));
  p.k = extent(left, i.attrs().ints(Attr::lhs_contracting_dims));
  const int64_t per_batch = std::max<int64_t>(1, p.batch * p.k);
  p.m = i.operand(0)->shape().num_elements() / per_batch;
  p.n = i.operand(1)->shape().num_elements() / per_batch;
  return p;
}

Product of_convolution(const Instruction& i) {
  Product p;
  const ConvDims& d = i.attrs().conv_dims();
  const Dims& kernel = i.operand(1)->dims();
  p.batch = i.attrs().integer(Attr::feature_group_count, 1) * i.attrs().integer(Attr::batch_group_count, 1);
  p.n = i.dims()[d.output_feature] / std::max<int64_t>(1, p.batch);
  p.m = i.shape().num_elements() / std::max<int64_t>(1, p.n * p.batch);
  p.k = kernel[d.kernel_input_feature] * extent(kernel, d.kernel_spatial);
  return p;
}

DType wider(DType a, DType b) { return bit_width(a) >= bit_width(b) ? a : b; }

}  // namespace

Product product_of(const Instruction& i) {
  Product p = i.is(Op::dot) ? of_dot(i) : of_convolution(i);
  p.flops = cost_of(i).flops;
  DType type = wider(i.operand(0)->dtype(), i.operand(1)->dtype());
  p.result = i.dtype();
  if (is_complex(type)) {
    p.batch *= kRealProducts;
    type = real_part_of(type);
    p.result = real_part_of(p.result);
  }
  p.operand = type;
  if (type == DType::kF64) p.passes = kPassesOfF64;
  if (type == DType::kF32) p.passes = matrix_passes(i);
  if (type == DType::kF16) p.passes = matrix_passes(i), p.operand = DType::kF32;
  p.on_vector_unit = is_integral(type) && bit_width(type) > 8;
  if (bit_width(p.operand) > 32) p.operand = DType::kF32;
  if (bit_width(p.result) > 32) p.result = DType::kF32;
  return p;
}

}  // namespace armillary::tpu
