// Arrays as vectors of plain numbers, and moving whole elements about: the handlers' everyday helpers.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>
#include <vector>

#include "xla_core/shape/index.h"
#include "xla_core/shape/literal.h"

namespace armillary {

using Complex = std::complex<double>;

// T: int64_t, a floating-point type or a complex one.
template <class T>
T element_as(const Literal& literal, int64_t i) {
  if constexpr (std::is_integral_v<T>)
    return literal.get_int(i);
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(literal.get_double(i));
  else
    return static_cast<T>(literal.get_complex(i));
}

template <class T>
void set_element(Literal& literal, int64_t i, T value) {
  if constexpr (std::is_same_v<T, Complex>)
    literal.set_complex(i, value);
  else if constexpr (std::is_same_v<T, double>)
    literal.set_double(i, value);
  else
    literal.set_int(i, value);
}

template <class T>
std::vector<T> values_of(const Literal& literal) {
  std::vector<T> values(static_cast<size_t>(literal.size()));
  if constexpr (std::is_floating_point_v<T>)
    if (literal.dtype() == DType::kF32) {
      std::copy(literal.data<float>().begin(), literal.data<float>().end(), values.begin());
      return values;
    }
  for (size_t i = 0; i < values.size(); ++i) values[i] = element_as<T>(literal, static_cast<int64_t>(i));
  return values;
}

template <class T>
Literal literal_of(const Shape& shape, const std::vector<T>& values) {
  Literal literal(shape);
  for (size_t i = 0; i < values.size(); ++i) set_element<T>(literal, static_cast<int64_t>(i), values[i]);
  return literal;
}

// fn(T()) with the type that numbers of this dtype are computed in: int64_t, double or Complex.
template <class Fn>
auto with_number_type(DType dtype, Fn&& fn) {
  if (is_complex(dtype)) return fn(Complex());
  if (is_float(dtype)) return fn(double());
  return fn(int64_t());
}

// to[i] = from[index(i)] for whole elements of `bytes` bytes.
template <class IndexOf>
void copy_elements(int bytes, const std::byte* from, std::byte* to, int64_t count, IndexOf&& index) {
  auto copy = [&](auto size) {
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * size(), from + index(i) * size(), size());
  };
  switch (bytes) {
    case 1:
      return copy(std::integral_constant<int, 1>());
    case 2:
      return copy(std::integral_constant<int, 2>());
    case 4:
      return copy(std::integral_constant<int, 4>());
    case 8:
      return copy(std::integral_constant<int, 8>());
    default:
      return copy(std::integral_constant<int, 16>());
  }
}

// Dimension d of the result is dimension order[d] of the operand.
Literal permuted(const Literal& literal, std::span<const int64_t> order);
// Element by element in another dtype; complex to real drops the imaginary part.
Literal converted(const Literal& literal, DType to);
// The dimensions 0 .. rank-1 that are not in `taken`, ascending.
Dims other_dims(int64_t rank, std::span<const int64_t> taken);
Dims selected(std::span<const int64_t> values, std::span<const int64_t> which);
Dims concatenated(std::initializer_list<std::span<const int64_t>> parts);
bool has_dim(std::span<const int64_t> dims, int64_t d);

// Matrices stacked in the leading dimensions: how linear algebra sees an array.
struct MatrixStack {
  int64_t count = 1, rows = 0, cols = 0;
  explicit MatrixStack(const Shape& shape);
  int64_t size() const { return rows * cols; }
};

}  // namespace armillary
