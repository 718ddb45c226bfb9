// A dot or convolution as products of matrices.
#pragma once

#include "tpu_sim/isa.h"
#include "xla_core/hlo/instruction.h"

namespace armillary::tpu {

struct Product {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  DType operand = DType::kBF16, result = DType::kBF16;
  int passes = 1;
  bool on_vector_unit = false;  // of types that the matrix unit does not take
  double flops = 0;             // by the definition of the op
};

Product product_of(const Instruction& contraction);

}  // namespace armillary::tpu
