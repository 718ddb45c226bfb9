// The general dot: any number of batch and contracting dimensions in any position, any dtypes.
#pragma once

#include "xla_core/backends/cpu/native/array_ref.h"
#include "xla_core/backends/cpu/native/gemm.h"

namespace armillary::native {

struct DotDims {
  Dims lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;
};

// The result is [batch..., free dims of lhs..., free dims of rhs...]. Sums are kept in f32 for f16, bf16 and
// f8 results, in f64 for f64, modulo 2^32 or 2^64 for integers; pred is "or of ands". Operands of other
// dtypes are converted to the accumulator's.
class DotPlan {
 public:
  // The `data` of the three arrays is not looked at.
  DotPlan(const ArrayRef& lhs, const ArrayRef& rhs, const DotDims& dims, const ArrayRef& result);

  // `epilogue` is told which elements of the result are final (see gemm.h); it may change them in place.
  void run(const std::byte* lhs, const std::byte* rhs, std::byte* result,
           const Epilogue& epilogue = nullptr) const;

 private:
  ArrayRef lhs_, rhs_;  // without data
  DType lhs_reads_,
      rhs_reads_;  // what the operands are converted to before the product; their own dtype as a rule
  GemmPlan plan_;
  bool swapped_ = false;  // plan_ computes the transposed product
};

void dot(const ArrayRef& lhs, const ArrayRef& rhs, const DotDims& dims, const ArrayRef& result,
         const Epilogue& epilogue = nullptr);

// The dtype in which sums towards a result of this dtype are kept.
DType accumulator_of(DType result);

}  // namespace armillary::native
