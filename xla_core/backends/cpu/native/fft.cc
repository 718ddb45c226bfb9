#include "xla_core/backends/cpu/native/fft.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <memory>
#include <numbers>
#include <vector>

#include "xla_core/backends/cpu/native/fft_plan.h"
#include "xla_core/base/error.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

// Lines are transformed in groups, interleaved, so that every butterfly is a vector operation; a group should
// fit in L1, or be small at least. Very long lines come one by one.
constexpr int64_t kMaxLines = 16;
constexpr int64_t kGroupPoints = 1 << 12;
constexpr int64_t kLongGroup = 1 << 18;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Lines along one dimension of a dense array.
struct Lines {
  int64_t count, inner;  // element k of line l is at l / inner * (length * inner) + l % inner + k * inner
  int64_t start(int64_t line, int64_t length) const { return line / inner * length * inner + line % inner; }
};

template <class R>
struct Workspace {
  Workspace(int64_t points, const FftPlan<R>& plan, int64_t lines)
      : re((points + 1) * lines), im((points + 1) * lines), scratch(plan.scratch_size(lines)) {}
  std::vector<R> re, im, scratch;  // one row of points more than are transformed: see split_spectra
};

// Calls body(first line, number of lines, workspace) for groups of lines. Groups of one row of the inner
// index only: neighbours in memory.
template <class R, class Body>
void for_each_group(const Lines& lines, int64_t points, const FftPlan<R>& plan, const Body& body) {
  int64_t group = std::clamp<int64_t>(kGroupPoints / std::max<int64_t>(1, points), 4, kMaxLines);
  if (points * group > kLongGroup) group = 1;
  if (lines.inner > 1)
    group = ceil_div(lines.inner, ceil_div(lines.inner, group));  // no short group at the end
  const int64_t grain = std::max<int64_t>(group, 4096 / std::max<int64_t>(1, points));
  auto task = [&](int64_t begin, int64_t end) {
    Workspace<R> w(points, plan, std::min(group, end - begin));
    for (int64_t l = begin; l < end;) {
      int64_t n = std::min(group, end - l);
      if (lines.inner > 1) n = std::min(n, lines.inner - l % lines.inner);
      body(l, n, w);
      l += n;
    }
  };
  if (lines.count >= num_threads()) return parallel_for(lines.count, grain, task);
  task(0, lines.count);  // few long lines: their stages use the pool
}

template <class R>
void transform(const FftPlan<R>& plan, Workspace<R>& w, int64_t lines, bool backward) {
  plan.run(backward ? w.im.data() : w.re.data(), backward ? w.re.data() : w.im.data(), w.scratch.data(),
           lines);
}

// Four complex pairs by four lines of memory, turned: rows of real and imaginary parts across the lines, or
// back.
template <class R>
void transpose_four(const R* const from[4], R* const to[4]) {
  typedef R V __attribute__((vector_size(4 * sizeof(R)), aligned(alignof(R)), may_alias));
  const V a = *reinterpret_cast<const V*>(from[0]), b = *reinterpret_cast<const V*>(from[1]);
  const V c = *reinterpret_cast<const V*>(from[2]), d = *reinterpret_cast<const V*>(from[3]);
  const V ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5),
          ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const V cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5),
          cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  *reinterpret_cast<V*>(to[0]) = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  *reinterpret_cast<V*>(to[1]) = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  *reinterpret_cast<V*>(to[2]) = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  *reinterpret_cast<V*>(to[3]) = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

// Calls block(point, line) for every whole 2 x 4 block and rest(point, line) for what is left; a cache line
// of each line at a time, since whole columns of lines would meet in the same few sets of a cache.
template <class Block, class Rest>
void for_each_block(int64_t points, int64_t lines, const Block& block, const Rest& rest) {
  constexpr int64_t kTogether = 8;
  const int64_t whole_points = points / 2 * 2, whole_lines = lines / 4 * 4;
  for (int64_t k0 = 0; k0 < points; k0 += kTogether) {
    const int64_t end = std::min(points, k0 + kTogether), whole_end = std::min(whole_points, end);
    for (int64_t j = 0; j < whole_lines; j += 4) {
      for (int64_t k = k0; k < whole_end; k += 2) block(k, j);
      for (int64_t k = whole_end; k < end; ++k)
        for (int64_t l = j; l < j + 4; ++l) rest(k, l);
    }
    for (int64_t j = whole_lines; j < lines; ++j)
      for (int64_t k = k0; k < end; ++k) rest(k, j);
  }
}

// Contiguous lines, `step` apart, into the workspace (point k of line j at [k * lines + j]), and back.
template <class R>
void load_lines(const std::complex<R>* from, int64_t step, int64_t points, int64_t lines, Workspace<R>& w) {
  for_each_block(
      points, lines,
      [&](int64_t k, int64_t j) {
        const R* in[4];
        for (int l = 0; l < 4; ++l) in[l] = reinterpret_cast<const R*>(from + (j + l) * step + k);
        const int64_t at = k * lines + j;
        R* const out[4] = {&w.re[at], &w.im[at], &w.re[at + lines], &w.im[at + lines]};
        transpose_four<R>(in, out);
      },
      [&](int64_t k, int64_t j) {
        w.re[k * lines + j] = from[j * step + k].real();
        w.im[k * lines + j] = from[j * step + k].imag();
      });
}

template <class R>
void store_lines(const Workspace<R>& w, int64_t points, int64_t lines, std::complex<R>* to, int64_t step) {
  for_each_block(
      points, lines,
      [&](int64_t k, int64_t j) {
        const int64_t at = k * lines + j;
        const R* const in[4] = {&w.re[at], &w.im[at], &w.re[at + lines], &w.im[at + lines]};
        R* out[4];
        for (int l = 0; l < 4; ++l) out[l] = reinterpret_cast<R*>(to + (j + l) * step + k);
        transpose_four<R>(in, out);
      },
      [&](int64_t k, int64_t j) { to[j * step + k] = {w.re[k * lines + j], w.im[k * lines + j]}; });
}

template <class R>
void scale_points(Workspace<R>& w, int64_t count, R scale) {
  if (scale == R(1)) return;
  for (int64_t i = 0; i < count; ++i) w.re[i] *= scale, w.im[i] *= scale;
}

template <class R>
void complex_axis(const std::complex<R>* in, std::complex<R>* out, int64_t n, const Lines& lines,
                  bool backward, R scale) {
  const FftPlan<R>& plan = FftPlan<R>::of(n);
  for_each_group<R>(lines, n, plan, [&](int64_t first, int64_t count, Workspace<R>& w) {
    const std::complex<R>* from = in + lines.start(first, n);
    std::complex<R>* to = out + lines.start(first, n);
    if (lines.inner == 1) {
      load_lines(from, n, n, count, w);
    } else {
      for (int64_t k = 0; k < n; ++k)
        for (int64_t j = 0; j < count; ++j)
          w.re[k * count + j] = from[k * lines.inner + j].real(),
                           w.im[k * count + j] = from[k * lines.inner + j].imag();
    }
    transform(plan, w, count, backward);
    scale_points(w, n * count, scale);
    if (lines.inner == 1) return store_lines(w, n, count, to, n);
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < count; ++j)
        to[k * lines.inner + j] = {w.re[k * count + j], w.im[k * count + j]};
  });
}

// exp(-2 pi i k / n) for k <= n / 2.
template <class R>
std::vector<std::complex<R>> half_circle(int64_t n) {
  std::vector<std::complex<R>> w(n / 2 + 1);
  for (int64_t k = 0; k <= n / 2; ++k) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    w[k] = {static_cast<R>(std::cos(angle)), static_cast<R>(std::sin(angle))};
  }
  return w;
}

// Lines of n real values beside lines of n / 2 + 1 complex ones. Even lines are n / 2 complex points (even
// and odd values), whose spectrum is taken apart afterwards; odd ones are complex lines without imaginary
// parts.
template <class R>
struct RealLines {
  int64_t n, count;
  bool even = n % 2 == 0;
  int64_t points = even ? n / 2 : n, width = n / 2 + 1;
  std::vector<std::complex<R>> turns = half_circle<R>(n);
};

// Points k and points - k of the half-length transforms become values k and points - k of the spectra; value
// `points` stands in one row more.
template <class R>
void split_spectra(const RealLines<R>& r, int64_t lines, Workspace<R>& w) {
  R* last = &w.re[r.points * lines];
  for (int64_t j = 0; j < lines; ++j) {
    const R re = w.re[j], im = w.im[j];
    w.re[j] = re + im, w.im[j] = 0;
    last[j] = re - im, w.im[r.points * lines + j] = 0;
  }
  for (int64_t k = 1; k <= r.points / 2; ++k) {
    R *re_k = &w.re[k * lines], *im_k = &w.im[k * lines], *re_m = &w.re[(r.points - k) * lines],
      *im_m = &w.im[(r.points - k) * lines];
    const R c = r.turns[k].real() / 2, s = r.turns[k].imag() / 2;
    for (int64_t j = 0; j < lines; ++j) {  // (z + mirror) / 2 - i / 2 * turn * (z - mirror)
      const R sum_re = (re_k[j] + re_m[j]) / 2, difference_re = re_k[j] - re_m[j];
      const R sum_im = (im_k[j] - im_m[j]) / 2, difference_im = im_k[j] + im_m[j];
      const R a = c * difference_im + s * difference_re, b = s * difference_im - c * difference_re;
      re_m[j] = sum_re - a, im_m[j] = b - sum_im;
      re_k[j] = sum_re + a, im_k[j] = b + sum_im;
    }
  }
}

// The reverse, times two: only half as many points are summed as `scale` knows of. The mean and Nyquist's
// term of a real signal are real, whatever the input says.
template <class R>
void join_spectra(const RealLines<R>& r, int64_t lines, Workspace<R>& w) {
  const R* last = &w.re[r.points * lines];
  for (int64_t j = 0; j < lines; ++j) {
    const R mean = w.re[j];
    w.re[j] = mean + last[j];
    w.im[j] = mean - last[j];
  }
  for (int64_t k = 1; k <= r.points / 2; ++k) {
    R *re_k = &w.re[k * lines], *im_k = &w.im[k * lines], *re_m = &w.re[(r.points - k) * lines],
      *im_m = &w.im[(r.points - k) * lines];
    const R c = r.turns[k].real(), s = -r.turns[k].imag();
    for (int64_t j = 0; j < lines; ++j) {
      const R sum_re = re_k[j] + re_m[j], difference_re = re_k[j] - re_m[j];
      const R sum_im = im_k[j] - im_m[j], difference_im = im_k[j] + im_m[j];
      const R a = difference_re * s + difference_im * c, b = difference_re * c - difference_im * s;
      re_m[j] = sum_re + a, im_m[j] = b - sum_im;
      re_k[j] = sum_re - a, im_k[j] = b + sum_im;
    }
  }
}

template <class R>
void real_forward(const R* in, std::complex<R>* out, const RealLines<R>& r) {
  const FftPlan<R>& plan = FftPlan<R>::of(r.points);
  for_each_group<R>({r.count, 1}, r.points, plan, [&](int64_t first, int64_t lines, Workspace<R>& w) {
    const R* from = in + first * r.n;
    std::complex<R>* to = out + first * r.width;
    if (r.even) {
      load_lines(reinterpret_cast<const std::complex<R>*>(from), r.points, r.points, lines, w);
    } else {
      for (int64_t k = 0; k < r.n; ++k)
        for (int64_t j = 0; j < lines; ++j) w.re[k * lines + j] = from[j * r.n + k], w.im[k * lines + j] = 0;
    }
    transform(plan, w, lines, false);
    if (r.even)
      split_spectra(r, lines, w);
    else
      std::fill_n(w.im.begin(), lines, R(0));
    store_lines(w, r.width, lines, to, r.width);
  });
}

template <class R>
void real_backward(const std::complex<R>* in, R* out, const RealLines<R>& r, R scale) {
  const FftPlan<R>& plan = FftPlan<R>::of(r.points);
  for_each_group<R>({r.count, 1}, r.points, plan, [&](int64_t first, int64_t lines, Workspace<R>& w) {
    R* to = out + first * r.n;
    load_lines(in + first * r.width, r.width, r.width, lines, w);
    if (r.even) {
      join_spectra(r, lines, w);
    } else {
      std::fill_n(w.im.begin(), lines, R(0));
      for (int64_t k = r.width; k < r.n; ++k)
        for (int64_t j = 0; j < lines; ++j)
          w.re[k * lines + j] = w.re[(r.n - k) * lines + j],
                           w.im[k * lines + j] = -w.im[(r.n - k) * lines + j];
    }
    transform(plan, w, lines, true);
    scale_points(w, r.points * lines, scale);
    if (r.even) return store_lines(w, r.points, lines, reinterpret_cast<std::complex<R>*>(to), r.points);
    for (int64_t k = 0; k < r.n; ++k)
      for (int64_t j = 0; j < lines; ++j) to[j * r.n + k] = w.re[k * lines + j];
  });
}

// Dimension d of an array of these dims.
Lines lines_of(const Dims& dims, int64_t d) {
  const int64_t inner = product(std::span(dims).subspan(d + 1));
  return {product(std::span(dims).first(d)) * inner, inner};
}

template <class R>
void run(FftKind kind, const Dims& lengths, const ArrayRef& input, const ArrayRef& result) {
  using C = std::complex<R>;
  const int64_t rank = input.rank(), axes = static_cast<int64_t>(lengths.size()), last = rank - 1;
  const bool backward = kind == FftKind::kIfft || kind == FftKind::kIrfft;
  const R scale = backward ? static_cast<R>(1.0 / static_cast<double>(product(lengths))) : R(1);
  if (kind == FftKind::kIrfft) {  // the other dimensions first, in memory of our own
    std::unique_ptr<C[]> copy;
    const C* from = input.as<C>();
    for (int64_t d = rank - axes; d < last; ++d) {
      if (!copy) copy = std::make_unique_for_overwrite<C[]>(input.size());
      complex_axis<R>(from, copy.get(), input.dims[d], lines_of(input.dims, d), true, R(1));
      from = copy.get();
    }
    return real_backward<R>(from, result.as<R>(), {lengths.back(), result.size() / lengths.back()}, scale);
  }
  if (kind == FftKind::kRfft)
    real_forward<R>(input.as<R>(), result.as<C>(), {lengths.back(), input.size() / lengths.back()});
  else
    complex_axis<R>(input.as<C>(), result.as<C>(), input.dims[last], lines_of(input.dims, last), backward,
                    scale);
  for (int64_t d = rank - axes; d < last; ++d)
    complex_axis<R>(result.as<C>(), result.as<C>(), result.dims[d], lines_of(result.dims, d), backward, R(1));
}

}  // namespace

void fft(FftKind kind, const Dims& lengths, const ArrayRef& input, const ArrayRef& result) {
  if (result.size() == 0) return;
  if (input.size() == 0) {
    std::memset(static_cast<void*>(result.data), 0, result.bytes());
    return;
  }
  if (lengths.empty()) {
    ARM_CHECK(input.bytes() == result.bytes());
    std::memmove(result.data, input.data, input.bytes());
    return;
  }
  const DType real = real_part_of(input.dtype);
  ARM_CHECK(real == real_part_of(result.dtype) && (real == DType::kF32 || real == DType::kF64));
  real == DType::kF32 ? run<float>(kind, lengths, input, result) : run<double>(kind, lengths, input, result);
}

}  // namespace armillary::native
