// Arrays for tests: owned memory, random values, access by index through shape/literal.h's slow, obvious
// conversions.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "xla_core/backends/cpu/native/array_ref.h"
#include "xla_core/shape/literal.h"

namespace armillary::native {

class Array {
 public:
  Array(DType dtype, Dims dims) : literal_(Shape(dtype, std::move(dims))) {}

  DType dtype() const { return literal_.dtype(); }
  const Dims& dims() const { return literal_.shape().dims; }
  int64_t rank() const { return literal_.shape().rank(); }
  int64_t size() const { return literal_.size(); }
  ArrayRef ref() { return {dtype(), dims(), literal_.bytes()}; }
  Literal& literal() { return literal_; }
  std::vector<std::byte> bytes() const {
    return {literal_.bytes(), literal_.bytes() + literal_.size_bytes()};
  }
  void fill_garbage() {
    std::memset(static_cast<void*>(literal_.bytes()), dtype() == DType::kPred ? 1 : 0xa5,
                literal_.size_bytes());
  }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(literal_.bytes());
  }

  int64_t linear(const Dims& at) const {
    int64_t i = 0;
    for (size_t d = 0; d < at.size(); ++d) i = i * dims()[d] + at[d];
    return i;
  }
  std::complex<double> value(int64_t i) const {
    return is_complex(dtype()) ? literal_.get_complex(i) : literal_.get_double(i);
  }
  std::complex<double> value(const Dims& at) const { return value(linear(at)); }
  int64_t integer(const Dims& at) const { return literal_.get_int(linear(at)); }
  void set(int64_t i, std::complex<double> v) {
    is_complex(dtype()) ? literal_.set_complex(i, v) : literal_.set_double(i, v.real());
  }
  void set(const Dims& at, std::complex<double> v) { set(linear(at), v); }
  void set_integer(const Dims& at, int64_t v) { literal_.set_int(linear(at), v); }

 private:
  Literal literal_;
};

// Floats and complex parts in [-1, 1]; integers over their whole range up to +-1000; pred is mostly false.
inline Array random_array(DType dtype, Dims dims, uint32_t seed) {
  Array a(dtype, std::move(dims));
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> real(-1, 1);
  std::uniform_int_distribution<int64_t> integer(-1000, 1000);
  for (int64_t i = 0; i < a.size(); ++i) {
    if (dtype == DType::kPred)
      a.literal().set_int(i, integer(rng) > 800);
    else if (is_integral(dtype))
      a.literal().set_int(i, integer(rng));
    else
      a.set(i, {real(rng), real(rng)});
  }
  return a;
}

inline void for_each_index(const Dims& dims, const std::function<void(const Dims&)>& body) {
  for (int64_t d : dims)
    if (d == 0) return;
  Dims at(dims.size(), 0);
  while (true) {
    body(at);
    int64_t d = static_cast<int64_t>(dims.size()) - 1;
    while (d >= 0 && ++at[d] == dims[d]) at[d--] = 0;
    if (d < 0) return;
  }
}

inline double epsilon_of(DType d) {
  return is_float(d) || is_complex(d) ? std::ldexp(1.0, -info(d).mantissa_bits) : 0;
}

// Relative to the largest magnitude in `want`: sums cancel, so small elements carry the error of large ones.
inline void expect_near(const Array& got, const Array& want, double tolerance) {
  ASSERT_EQ(got.dims(), want.dims());
  double scale = 1;
  for (int64_t i = 0; i < want.size(); ++i)
    if (std::isfinite(std::abs(want.value(i)))) scale = std::max(scale, std::abs(want.value(i)));
  for (int64_t i = 0; i < want.size(); ++i) {
    const auto g = got.value(i), w = want.value(i);
    const bool same = g == w || (std::isnan(std::abs(g)) && std::isnan(std::abs(w)));
    ASSERT_TRUE(same || std::abs(g - w) <= tolerance * scale)
        << "element " << i << ": got " << g << ", want " << w;
  }
}

}  // namespace armillary::native
