#include "xla_core/backends/cpu/native/complex_gemm.h"

#include <algorithm>
#include <complex>
#include <memory>

#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

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

// B of one batch element as real matrix [2 depth, 2 columns]: rows (re, im) and (-im, re), so that a real
// product with A's (re, im) pairs gives C's (re, im) pairs.
template <class R>
void expand(const GemmSide& b, const std::complex<R>* data, R* out) {
  const int64_t n = b.outer.size();
  parallel_for(b.depth.size(), std::max<int64_t>(1, 8192 / std::max<int64_t>(1, n)),
               [&](int64_t begin, int64_t end) {
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

// A complex product is a real one of twice the depth and twice the columns, which costs no more
// multiplications than four real products.
template <class R>
void run(DType real, const GemmPlan& plan, const std::byte* a, const std::byte* b, std::byte* c,
         const Epilogue& epilogue) {
  const int64_t n = plan.b.outer.size(), depth = plan.b.depth.size();
  auto scratch = std::make_unique_for_overwrite<R[]>(std::max<int64_t>(1, 4 * n * depth));
  GemmPlan pairs{real,
                 {real, doubled(plan.a.outer), interleaved(plan.a.depth), {}},
                 {real, steps(2 * n, 1), steps(2 * depth, 2 * n), steps(1, 1)},
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

// Small products term by term, each a complex product rounded once a part: splitting real and imaginary sums,
// as above, loses digits when the two cancel, and here speed is no reason to.
constexpr int64_t kSmallTerms = 1 << 15;

template <class R>
void run_small(const GemmPlan& plan, const std::byte* a, const std::byte* b, std::byte* c,
               const Epilogue& epilogue) {
  const auto* lhs = reinterpret_cast<const std::complex<R>*>(a);
  const auto* rhs = reinterpret_cast<const std::complex<R>*>(b);
  auto* out = reinterpret_cast<std::complex<R>*>(c);
  for (int64_t i = 0; i < plan.c.batch.size(); ++i)
    for (int64_t row = 0; row < plan.a.outer.size(); ++row)
      for (int64_t col = 0; col < plan.b.outer.size(); ++col) {
        R re = 0, im = 0;
        for (int64_t k = 0; k < plan.a.depth.size(); ++k) {
          const std::complex<R> x =
              lhs[plan.a.batch.offsets[i] + plan.a.outer.offsets[row] + plan.a.depth.offsets[k]];
          const std::complex<R> y =
              rhs[plan.b.batch.offsets[i] + plan.b.outer.offsets[col] + plan.b.depth.offsets[k]];
          re += x.real() * y.real() - x.imag() * y.imag();
          im += x.real() * y.imag() + x.imag() * y.real();
        }
        out[plan.c.batch.offsets[i] + plan.c.rows.offsets[row] + plan.c.cols.offsets[col]] = {
            static_cast<R>(re), static_cast<R>(im)};
      }
  const int64_t size = plan.c.batch.size() * plan.a.outer.size() * plan.b.outer.size();
  if (epilogue && size > 0) epilogue(0, size);
}

}  // namespace

void complex_gemm(const GemmPlan& plan, const std::byte* a, const std::byte* b, std::byte* c,
                  const Epilogue& epilogue) {
  const int64_t terms = plan.c.batch.size() * plan.a.outer.size() * plan.b.outer.size() * plan.a.depth.size();
  if (terms <= kSmallTerms && plan.accumulator == DType::kC64)
    return run_small<float>(plan, a, b, c, epilogue);
  if (terms <= kSmallTerms) return run_small<double>(plan, a, b, c, epilogue);
  if (plan.accumulator == DType::kC64) return run<float>(DType::kF32, plan, a, b, c, epilogue);
  run<double>(DType::kF64, plan, a, b, c, epilogue);
}

}  // namespace armillary::native
