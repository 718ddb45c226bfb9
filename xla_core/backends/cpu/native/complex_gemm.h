// Complex products through real ones.
#pragma once

#include "xla_core/backends/cpu/native/gemm.h"

namespace armillary::native {

// gemm for accumulators c64 and c128; both operands and the result have that dtype.
void complex_gemm(const GemmPlan& plan, const std::byte* a, const std::byte* b, std::byte* c,
                  const Epilogue& epilogue);

}  // namespace armillary::native
