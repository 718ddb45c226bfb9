// The inner loops of the Fourier transform, compiled once per instruction set (see gemm_kernels.h for why
// this header includes so little).
#pragma once

#include <cstdint>

namespace armillary::native {

// One stage of Stockham's method, radix r, over lines of n = r * m * ... points that lie interleaved,
// `stride` values side by side:
//   y[q + stride * (r * p + j)] = w^(p j) * sum_k x[q + stride * (p + m * k)] * exp(-2 pi i j k / r)      for
//   q < stride, begin <= p < end
// Real and imaginary parts lie in arrays of their own. `twiddles` holds, for each p, the r - 1 pairs (re, im)
// of w^(p j), j = 1 ... r - 1.
template <class R>
struct FftStage {
  int64_t radix, m, stride;
  const R* xr;
  const R* xi;
  R* yr;
  R* yi;
  const R* twiddles;
  const R* roots;  // radix pairs (cos, sin) of 2 pi j / radix
};

struct FftTable {
  void (*stage_f32)(const FftStage<float>& stage, int64_t begin, int64_t end);
  void (*stage_f64)(const FftStage<double>& stage, int64_t begin, int64_t end);
};
const FftTable& fft_table_baseline();
const FftTable& fft_table_avx2();
const FftTable& fft_table_avx512();

inline constexpr int64_t kMaxRadix = 31;

}  // namespace armillary::native
