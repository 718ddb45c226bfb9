// fft: powers of two by Cooley and Tukey, other lengths by Bluestein's chirp, all in more than double, so
// that the rounding of the result is the only one that shows.
#include <numbers>

#include "xla_core/interp/dense.h"
#include "xla_core/interp/evaluation.h"

namespace armillary {
namespace {

using Real = long double;
using Wide = std::complex<Real>;
using Signal = std::vector<Wide>;

// exp(sign * 2 pi i * k / n), with k reduced first so that large products lose nothing.
Wide root_of_unity(int64_t k, int64_t n, int sign) {
  const Real angle = 2 * std::numbers::pi_v<Real> * static_cast<Real>(k % n) / static_cast<Real>(n);
  return {std::cos(angle), sign * std::sin(angle)};
}

void transform_power_of_two(Signal& x, int sign) {
  const size_t n = x.size();
  for (size_t i = 1, j = 0; i < n; ++i) {  // bit reversal
    size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  Signal roots(n / 2 + 1);
  for (size_t k = 0; k < n / 2; ++k)
    roots[k] = root_of_unity(static_cast<int64_t>(k), static_cast<int64_t>(n), sign);
  for (size_t length = 2; length <= n; length *= 2)
    for (size_t begin = 0; begin < n; begin += length)
      for (size_t k = 0; k < length / 2; ++k) {
        const Wide even = x[begin + k], odd = x[begin + k + length / 2] * roots[k * (n / length)];
        x[begin + k] = even + odd;
        x[begin + k + length / 2] = even - odd;
      }
}

// j k = (j^2 + k^2 - (j - k)^2) / 2 turns the transform into a convolution.
void transform_any(Signal& x, int sign) {
  const int64_t n = static_cast<int64_t>(x.size());
  size_t padded = 1;
  while (static_cast<int64_t>(padded) < 2 * n) padded *= 2;
  Signal a(padded), b(padded);
  auto chirp = [&](int64_t k) { return root_of_unity(k * k % (2 * n), 2 * n, sign); };
  for (int64_t k = 0; k < n; ++k) {
    a[static_cast<size_t>(k)] = x[static_cast<size_t>(k)] * chirp(k);
    b[static_cast<size_t>(k)] = std::conj(chirp(k));
    if (k > 0) b[padded - static_cast<size_t>(k)] = b[static_cast<size_t>(k)];
  }
  transform_power_of_two(a, -1);
  transform_power_of_two(b, -1);
  for (size_t k = 0; k < padded; ++k) a[k] *= b[k];
  transform_power_of_two(a, 1);
  for (int64_t k = 0; k < n; ++k)
    x[static_cast<size_t>(k)] = a[static_cast<size_t>(k)] / static_cast<Real>(padded) * chirp(k);
}

void transform(Signal& x, int sign) {
  if (x.size() < 2) return;
  if ((x.size() & (x.size() - 1)) == 0)
    transform_power_of_two(x, sign);
  else
    transform_any(x, sign);
}

// A complex array with the transform along one dimension replaced in place.
void transform_along(Signal& values, const Dims& dims, size_t dim, int sign) {
  const int64_t n = dims[dim], stride = strides_of(dims)[dim];
  if (n == 0) return;
  Signal line(static_cast<size_t>(n));
  for (int64_t row = 0; row < static_cast<int64_t>(values.size()) / n; ++row) {
    const int64_t base = row / stride * stride * n + row % stride;
    for (int64_t k = 0; k < n; ++k)
      line[static_cast<size_t>(k)] = values[static_cast<size_t>(base + k * stride)];
    transform(line, sign);
    if (sign > 0)
      for (Wide& v : line) v /= static_cast<Real>(n);
    for (int64_t k = 0; k < n; ++k)
      values[static_cast<size_t>(base + k * stride)] = line[static_cast<size_t>(k)];
  }
}

// The last dimension cut to `size`, or (from half a spectrum) filled up by symmetry: x[n - k] = conj(x[k]).
Signal resize_last(const Signal& values, int64_t have, int64_t size) {
  Signal result;
  for (size_t row = 0; have > 0 && row < values.size() / static_cast<size_t>(have); ++row)
    for (int64_t k = 0; k < size; ++k) {
      const Wide* line = values.data() + row * static_cast<size_t>(have);
      result.push_back(k < have ? line[k] : size - k < have ? std::conj(line[size - k]) : Wide());
    }
  return result;
}

Literal fft(Evaluation&, const Instruction& i, Operands operands) {
  const std::string& type = i.attrs().text(Attr::fft_type);
  const Dims& lengths = i.attrs().ints(Attr::fft_length);
  Dims dims = operands[0].shape().dims;
  const std::vector<Complex> given = values_of<Complex>(operands[0]);
  Signal values(given.begin(), given.end());
  const size_t last = dims.size() - 1, first = dims.size() - lengths.size();
  const int sign = type == "IFFT" || type == "IRFFT" ? 1 : -1;
  if (lengths.empty() || lengths.size() > dims.size())
    throw user_error("fft_length has {} sizes for {}", lengths.size(), to_string(operands[0].shape()));
  if (type == "IRFFT") {  // the other dimensions first: symmetry holds only along the last
    for (size_t d = first; d < last; ++d) transform_along(values, dims, d, sign);
    values = resize_last(values, dims[last], lengths.back());
    dims[last] = lengths.back();
    // The imaginary parts of the zero and the middle frequency have no meaning in a real signal.
    for (size_t row = 0; dims[last] > 0 && row < values.size() / static_cast<size_t>(dims[last]); ++row) {
      Wide* line = values.data() + row * static_cast<size_t>(dims[last]);
      line[0] = line[0].real();
      if (dims[last] % 2 == 0) line[dims[last] / 2] = line[dims[last] / 2].real();
    }
    transform_along(values, dims, last, sign);
  } else {
    transform_along(values, dims, last, sign);
    if (type == "RFFT") {
      values = resize_last(values, dims[last], lengths.back() / 2 + 1);
      dims[last] = lengths.back() / 2 + 1;
    }
    for (size_t d = first; d < last; ++d) transform_along(values, dims, d, sign);
  }
  return literal_of<Complex>(i.shape(), std::vector<Complex>(values.begin(), values.end()));
}

}  // namespace

std::span<const HandlerRow> fft_handlers() {
  static constexpr HandlerRow rows[] = {{Op::fft, fft}};
  return rows;
}

}  // namespace armillary
