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

// Lines are transformed in groups, interleaved, so that every butterfly is a vector operation; long lines
// come in smaller groups.
constexpr int64_t kMaxLines = 16;
constexpr int64_t kGroupPoints = 1 << 16;

// Lines along one dimension of a dense array.
struct Lines {
  int64_t count, inner;  // element k of line l is at l / inner * (length * inner) + l % inner + k * inner
  int64_t start(int64_t line, int64_t length) const { return line / inner * length * inner + line % inner; }
};

template <class R>
struct Workspace {
  Workspace(int64_t points, const FftPlan<R>& plan, int64_t lines)
      : re(points * lines), im(points * lines), scratch(plan.scratch_size(lines)) {}
  std::vector<R> re, im, scratch;
};

// Calls body(first line, number of lines, workspace) for groups of lines. Groups of one row of the inner
// index only: neighbours in memory.
template <class R, class Body>
void for_each_group(const Lines& lines, int64_t points, const FftPlan<R>& plan, const Body& body) {
  const int64_t group = std::clamp<int64_t>(kGroupPoints / std::max<int64_t>(1, points), 1, kMaxLines);
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

// Offset of line l + j relative to line l.
int64_t line_step(const Lines& lines, int64_t length) { return lines.inner > 1 ? 1 : length; }

template <class R>
void complex_axis(const std::complex<R>* in, std::complex<R>* out, int64_t n, const Lines& lines,
                  bool backward, R scale) {
  const FftPlan<R>& plan = FftPlan<R>::of(n);
  const int64_t step = line_step(lines, n);
  for_each_group<R>(lines, n, plan, [&](int64_t first, int64_t count, Workspace<R>& w) {
    const std::complex<R>* from = in + lines.start(first, n);
    std::complex<R>* to = out + lines.start(first, n);
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < count; ++j) {
        const std::complex<R> v = from[k * lines.inner + j * step];
        w.re[k * count + j] = v.real();
        w.im[k * count + j] = v.imag();
      }
    transform(plan, w, count, backward);
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < count; ++j)
        to[k * lines.inner + j * step] = {w.re[k * count + j] * scale, w.im[k * count + j] * scale};
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

// Real lines of even length n are n / 2 complex points (even, odd); the two interleaved spectra are taken
// apart afterwards. Odd ones are complex lines without imaginary parts.
template <class R>
void real_forward(const R* in, std::complex<R>* out, int64_t n, int64_t count_lines) {
  const bool even = n % 2 == 0;
  const int64_t points = even ? n / 2 : n, width = n / 2 + 1;
  const FftPlan<R>& plan = FftPlan<R>::of(points);
  const std::vector<std::complex<R>> w_n = half_circle<R>(n);
  for_each_group<R>({count_lines, 1}, points, plan, [&](int64_t first, int64_t count, Workspace<R>& w) {
    for (int64_t k = 0; k < points; ++k)
      for (int64_t j = 0; j < count; ++j) {
        const R* line = in + (first + j) * n;
        w.re[k * count + j] = even ? line[2 * k] : line[k];
        w.im[k * count + j] = even ? line[2 * k + 1] : R(0);
      }
    transform(plan, w, count, false);
    for (int64_t j = 0; j < count; ++j) {
      std::complex<R>* line = out + (first + j) * width;
      for (int64_t k = 0; k < width; ++k) {
        const int64_t a = k % points * count + j, b = (points - k) % points * count + j;
        const std::complex<R> z(w.re[a], w.im[a]), mirror(w.re[b], -w.im[b]);
        if (!even) {
          line[k] = z;
          continue;
        }
        const std::complex<R> sum = z + mirror, difference = z - mirror;
        const R cr = w_n[k].real(), ci = w_n[k].imag();  // sum / 2 - i / 2 * w * difference
        line[k] = {(sum.real() + cr * difference.imag() + ci * difference.real()) / 2,
                   (sum.imag() + ci * difference.imag() - cr * difference.real()) / 2};
      }
      line[0] = {line[0].real(), R(0)};
      if (even) line[n / 2] = {line[n / 2].real(), R(0)};
    }
  });
}

template <class R>
void real_backward(const std::complex<R>* in, R* out, int64_t n, int64_t count_lines, R scale) {
  const bool even = n % 2 == 0;
  const int64_t points = even ? n / 2 : n, width = n / 2 + 1;
  const FftPlan<R>& plan = FftPlan<R>::of(points);
  const std::vector<std::complex<R>> w_n = half_circle<R>(n);
  for_each_group<R>({count_lines, 1}, points, plan, [&](int64_t first, int64_t count, Workspace<R>& w) {
    for (int64_t j = 0; j < count; ++j) {
      const std::complex<R>* line = in + (first + j) * width;
      auto at = [&](int64_t k) {  // the mean and Nyquist's term of a real signal are real
        return k == 0 || 2 * k == n ? std::complex<R>(line[k].real(), 0)
               : k < width          ? line[k]
                                    : std::conj(line[n - k]);
      };
      for (int64_t k = 0; k < points; ++k) {
        std::complex<R> z = at(k);
        if (even) {
          const std::complex<R> x = z, mirror = std::conj(at(points - k)), sum = x + mirror,
                                difference = x - mirror;
          const R cr = w_n[k].real(), ci = -w_n[k].imag();
          const R odd_r = difference.real() * cr - difference.imag() * ci,
                  odd_i = difference.real() * ci + difference.imag() * cr;
          z = {sum.real() - odd_i,
               sum.imag() +
                   odd_r};  // twice the half-length spectrum; `scale` knows only n / 2 points are summed
        }
        w.re[k * count + j] = z.real();
        w.im[k * count + j] = z.imag();
      }
    }
    transform(plan, w, count, true);
    for (int64_t j = 0; j < count; ++j) {
      R* line = out + (first + j) * n;
      for (int64_t k = 0; k < points; ++k) {
        line[even ? 2 * k : k] = w.re[k * count + j] * scale;
        if (even) line[2 * k + 1] = w.im[k * count + j] * scale;
      }
    }
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
    return real_backward<R>(from, result.as<R>(), lengths.back(), result.size() / lengths.back(), scale);
  }
  if (kind == FftKind::kRfft)
    real_forward<R>(input.as<R>(), result.as<C>(), lengths.back(), input.size() / lengths.back());
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
