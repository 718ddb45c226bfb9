#include "xla_core/backends/cpu/native/dot.h"

#include <algorithm>
#include <complex>
#include <memory>

#include "xla_core/backends/cpu/native/convert.h"
#include "xla_core/base/error.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

Dims pick(std::span<const int64_t> from, std::span<const int64_t> at) {
  Dims out;
  for (int64_t i : at) out.push_back(from[i]);
  return out;
}

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

// The same axis over complex memory seen as pairs of reals.
Axis doubled(const Axis& axis) {
  std::vector<int64_t> offsets;
  for (int64_t o : axis.offsets) offsets.push_back(2 * o);
  return Axis::of(std::move(offsets));
}
Axis interleaved(const Axis& axis) {
  std::vector<int64_t> offsets;
  for (int64_t o : axis.offsets) offsets.insert(offsets.end(), {2 * o, 2 * o + 1});
  return Axis::of(std::move(offsets));
}

// B of one batch element as real matrix [2 depth, 2 columns]: rows (re, im) and (-im, re), so that a real product with A's (re, im) pairs gives
// C's (re, im) pairs.
template <class R>
void expand(const GemmSide& b, const std::complex<R>* data, R* out) {
  const int64_t n = b.outer.size();
  parallel_for(b.depth.size(), std::max<int64_t>(1, 8192 / std::max<int64_t>(1, n)), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      R* even = out + k * 4 * n;
      R* odd = even + 2 * n;
      for (int64_t j = 0; j < n; ++j) {
        const std::complex<R> v = data[b.depth.offsets[k] + b.outer.offsets[j]];
        even[2 * j] = v.real();
        even[2 * j + 1] = v.imag();
        odd[2 * j] = -v.imag();
        odd[2 * j + 1] = v.real();
      }
    }
  });
}

// A complex product is a real one of twice the depth and twice the columns, which costs no more multiplications than four real products.
template <class R>
void complex_gemm(DType real, const GemmPlan& plan, const std::byte* a, const std::byte* b, std::byte* c, const Epilogue& epilogue) {
  const int64_t n = plan.b.outer.size(), depth = plan.b.depth.size();
  auto scratch = std::make_unique_for_overwrite<R[]>(std::max<int64_t>(1, 4 * n * depth));
  GemmPlan pairs{real, {real, doubled(plan.a.outer), interleaved(plan.a.depth), {}}, {real, steps(2 * n, 1), steps(2 * depth, 2 * n), steps(1, 1)},
                 {real, doubled(plan.c.rows), interleaved(plan.c.cols), {}}};
  for (int64_t i = 0; i < plan.c.batch.size(); ++i) {
    expand(plan.b, reinterpret_cast<const std::complex<R>*>(b) + plan.b.batch.offsets[i], scratch.get());
    pairs.a.batch = Axis::of({2 * plan.a.batch.offsets[i]});
    pairs.c.batch = Axis::of({2 * plan.c.batch.offsets[i]});
    Epilogue halved;
    if (epilogue) halved = [&](int64_t begin, int64_t end) { epilogue(begin / 2, end / 2); };
    gemm(pairs, a, reinterpret_cast<const std::byte*>(scratch.get()), c, halved);
  }
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
  complex_ = is_complex(accumulator);
  // Operands the packing cannot read are converted as a whole first.
  auto reads = [&](DType d) { return (complex_ ? d == accumulator : gemm_reads(accumulator, d)) ? d : accumulator; };
  lhs_reads_ = reads(lhs.dtype);
  rhs_reads_ = reads(rhs.dtype);
  plan_.accumulator = accumulator;
  plan_.a = side_of({lhs_reads_, lhs.dims, nullptr}, dims.lhs_batch, dims.lhs_contracting);
  plan_.b = side_of({rhs_reads_, rhs.dims, nullptr}, dims.rhs_batch, dims.rhs_contracting);
  const int64_t m = plan_.a.outer.size(), n = plan_.b.outer.size();
  plan_.c = {result.dtype, steps(m, n), steps(n, 1), steps(plan_.a.batch.size(), m * n)};
  // A single column is a row of the transposed product.
  swapped_ = !complex_ && n == 1 && m > 1 && plan_.a.outer.contiguous;
  if (swapped_) plan_ = transposed(plan_);
}

void DotPlan::run(const std::byte* lhs, const std::byte* rhs, std::byte* result, const Epilogue& epilogue) const {
  std::unique_ptr<std::byte[]> lhs_storage, rhs_storage;
  auto readable = [](const ArrayRef& like, const std::byte* data, DType to, std::unique_ptr<std::byte[]>& storage) -> const std::byte* {
    if (like.dtype == to) return data;
    return converted({like.dtype, like.dims, const_cast<std::byte*>(data)}, to, storage).data;
  };
  const std::byte* a = readable(lhs_, lhs, lhs_reads_, lhs_storage);
  const std::byte* b = readable(rhs_, rhs, rhs_reads_, rhs_storage);
  if (plan_.accumulator == DType::kC64) return complex_gemm<float>(DType::kF32, plan_, a, b, result, epilogue);
  if (plan_.accumulator == DType::kC128) return complex_gemm<double>(DType::kF64, plan_, a, b, result, epilogue);
  gemm(plan_, swapped_ ? b : a, swapped_ ? a : b, result, epilogue);
}

void dot(const ArrayRef& lhs, const ArrayRef& rhs, const DotDims& dims, const ArrayRef& result, const Epilogue& epilogue) {
  DotPlan(lhs, rhs, dims, result).run(lhs.data, rhs.data, result.data, epilogue);
}

}  // namespace armillary::native
