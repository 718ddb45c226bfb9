#include "xla_core/backends/cpu/native/dot.h"

#include <algorithm>
#include <complex>
#include <memory>

#include "xla_core/backends/cpu/native/convert.h"
#include "xla_core/base/error.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

Dims free_dims(int64_t rank, const Dims& batch, const Dims& contracting) {
  Dims out;
  for (int64_t d = 0; d < rank; ++d)
    if (std::ranges::count(batch, d) + std::ranges::count(contracting, d) == 0) out.push_back(d);
  return out;
}

GemmSide side_of(const ArrayRef& array, const Dims& batch, const Dims& contracting) {
  const Dims strides = strides_of(array.dims);
  const Dims free = free_dims(array.rank(), batch, contracting);
  auto axis = [&](const Dims& at) { return Axis::of(pick(array.dims, at), pick(strides, at)); };
  return {array.dtype, axis(free), axis(contracting), axis(batch)};
}

Axis steps(int64_t count, int64_t stride) {
  std::vector<int64_t> offsets(count);
  for (int64_t i = 0; i < count; ++i) offsets[i] = i * stride;
  return Axis::of(std::move(offsets));
}

}  // namespace

DType accumulator_of(DType result) {
  if (is_complex(result) || result == DType::kF64) return result;
  if (is_float(result)) return DType::kF32;
  return bit_width(result) == 64 ? DType::kU64 : DType::kU32;
}

DotPlan::DotPlan(const ArrayRef& lhs, const ArrayRef& rhs, const DotDims& dims, const ArrayRef& result)
    : lhs_{lhs.dtype, lhs.dims, nullptr}, rhs_{rhs.dtype, rhs.dims, nullptr} {
  const DType accumulator = accumulator_of(result.dtype);
  // Operands the packing cannot read are converted as a whole first.
  auto reads = [&](DType d) { return gemm_reads(accumulator, d) ? d : accumulator; };
  lhs_reads_ = reads(lhs.dtype);
  rhs_reads_ = reads(rhs.dtype);
  plan_.accumulator = accumulator;
  plan_.a = side_of({lhs_reads_, lhs.dims, nullptr}, dims.lhs_batch, dims.lhs_contracting);
  plan_.b = side_of({rhs_reads_, rhs.dims, nullptr}, dims.rhs_batch, dims.rhs_contracting);
  const int64_t m = plan_.a.outer.size(), n = plan_.b.outer.size();
  plan_.c = {result.dtype, steps(m, n), steps(n, 1), steps(plan_.a.batch.size(), m * n)};
  // A single column is a row of the transposed product.
  swapped_ = !is_complex(accumulator) && n == 1 && m > 1 && plan_.a.outer.contiguous;
  if (swapped_) plan_ = transposed(plan_);
}

void DotPlan::run(const std::byte* lhs, const std::byte* rhs, std::byte* result,
                  const Epilogue& epilogue) const {
  std::unique_ptr<std::byte[]> lhs_storage, rhs_storage;
  auto readable = [](const ArrayRef& like, const std::byte* data, DType to,
                     std::unique_ptr<std::byte[]>& storage) -> const std::byte* {
    if (like.dtype == to) return data;
    return converted({like.dtype, like.dims, const_cast<std::byte*>(data)}, to, storage).data;
  };
  const std::byte* a = readable(lhs_, lhs, lhs_reads_, lhs_storage);
  const std::byte* b = readable(rhs_, rhs, rhs_reads_, rhs_storage);
  gemm(plan_, swapped_ ? b : a, swapped_ ? a : b, result, epilogue);
}

void dot(const ArrayRef& lhs, const ArrayRef& rhs, const DotDims& dims, const ArrayRef& result,
         const Epilogue& epilogue) {
  DotPlan(lhs, rhs, dims, result).run(lhs.data, rhs.data, result.data, epilogue);
}

}  // namespace armillary::native
