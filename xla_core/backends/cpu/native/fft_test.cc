#include "xla_core/backends/cpu/native/fft.h"

#include <numbers>

#include <gtest/gtest.h>

#include "xla_core/backends/cpu/native/test_arrays.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

using C = std::complex<double>;

// The definition along one dimension.
std::vector<C> naive_axis(const std::vector<C>& x, const Dims& dims, int64_t d, bool backward) {
  const int64_t n = dims[d], inner = product(std::span(dims).subspan(d + 1));
  std::vector<C> y(x.size());
  std::vector<C> roots(n);
  for (int64_t k = 0; k < n; ++k)
    roots[k] = std::polar(
        1.0, (backward ? 2 : -2) * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    const int64_t j = i / inner % n, start = i - j * inner;
    for (int64_t k = 0; k < n; ++k) y[i] += x[start + k * inner] * roots[j * k % n];
    if (backward) y[i] /= static_cast<double>(n);
  }
  return y;
}

std::vector<C> values(const Array& a) {
  std::vector<C> v;
  for (int64_t i = 0; i < a.size(); ++i) v.push_back(a.value(i));
  return v;
}

void check(FftKind kind, DType real, Dims dims, int64_t axes) {
  SCOPED_TRACE(std::string(to_string(real)) + " kind " + std::to_string(static_cast<int>(kind)) +
               " last dim " + std::to_string(dims.back()));
  const DType complex = complex_of(real);
  Dims half = dims;
  half.back() = dims.back() / 2 + 1;
  const Dims lengths(dims.end() - axes, dims.end());
  const bool to_real = kind == FftKind::kIrfft, from_real = kind == FftKind::kRfft,
             backward = kind == FftKind::kIfft || to_real;
  Array in = random_array(from_real ? real : complex, to_real ? half : dims, 1),
        out(to_real ? real : complex, from_real ? half : dims);
  std::vector<C> x = values(in);
  if (to_real) {  // the whole spectrum of a real signal: other dimensions are transformed first
    for (int64_t d = static_cast<int64_t>(dims.size()) - axes; d + 1 < static_cast<int64_t>(dims.size()); ++d)
      x = naive_axis(x, half, d, true);
    std::vector<C> whole;
    for (int64_t line = 0; line < product(half) / half.back(); ++line)
      for (int64_t k = 0; k < dims.back(); ++k) {
        C v =
            k < half.back() ? x[line * half.back() + k] : std::conj(x[line * half.back() + dims.back() - k]);
        whole.push_back(k == 0 || 2 * k == dims.back() ? v.real() : v);
      }
    x = naive_axis(whole, dims, static_cast<int64_t>(dims.size()) - 1, true);
  } else {
    for (int64_t d = static_cast<int64_t>(dims.size()) - axes; d < static_cast<int64_t>(dims.size()); ++d)
      x = naive_axis(x, dims, d, backward);
  }
  Array want(out.dtype(), out.dims());
  for (int64_t i = 0; i < want.size(); ++i)
    want.set(i, from_real ? x[i / half.back() * dims.back() + i % half.back()] : x[i]);
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    fft(kind, lengths, in.ref(), out.ref());
    expect_near(out, want, real == DType::kF32 ? 2e-6 : 4e-15);
  }
}

TEST(Fft, every_length_and_kind_matches_the_definition) {
  for (int64_t n : {1,  2,  3,  4,  5,  6,  7,  8,  9,  11, 12,  13,  15,  16,  17,  19,  22,   26,
                    30, 23, 29, 31, 34, 37, 49, 60, 64, 97, 101, 128, 210, 242, 257, 360, 1000, 1024})
    for (FftKind kind : {FftKind::kFft, FftKind::kIfft, FftKind::kRfft, FftKind::kIrfft})
      for (DType real : {DType::kF32, DType::kF64}) check(kind, real, {3, n}, 1);
}

TEST(Fft, several_dimensions_match_the_definition) {
  for (FftKind kind : {FftKind::kFft, FftKind::kIfft, FftKind::kRfft, FftKind::kIrfft}) {
    check(kind, DType::kF32, {2, 6, 10}, 2);
    check(kind, DType::kF64, {2, 5, 7, 9}, 3);
    check(kind, DType::kF32, {40, 33}, 2);
    check(kind, DType::kF32, {3, 4, 2, 20, 8}, 2);
    check(kind, DType::kF64, {8, 8, 8, 8}, 4);
  }
}

TEST(Fft, long_lines_keep_their_precision) {
  // A pure tone has one line in its spectrum.
  for (int64_t n : {65536, 60000, 65537}) {
    Array in(DType::kC64, {n}), out(DType::kC64, {n}), want(DType::kC64, {n});
    for (int64_t i = 0; i < n; ++i)
      in.set(i, std::polar(1.0,
                           2 * std::numbers::pi * static_cast<double>(i * 777 % n) / static_cast<double>(n)));
    want.set(777, static_cast<double>(n));
    for (int threads : {1, 3}) {
      set_num_threads(threads);
      fft(FftKind::kFft, {n}, in.ref(), out.ref());
      expect_near(out, want, 1e-6);
    }
  }
}

TEST(Fft, lines_do_not_disturb_each_other) {
  Array in(DType::kF32, {2, 64}), out(DType::kC64, {2, 33});
  for (int64_t i = 0; i < 64; ++i) in.set(i, NAN), in.set(64 + i, i == 0);
  fft(FftKind::kRfft, {64}, in.ref(), out.ref());
  for (int64_t k = 0; k < 33; ++k) EXPECT_EQ(out.value(33 + k), C(1, 0));
}

}  // namespace
}  // namespace armillary::native
