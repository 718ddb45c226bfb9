// A matrix somewhere in memory: transposition and reversal are other strides, so that every triangular
// problem becomes a lower one.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "xla_core/backends/cpu/native/gemm.h"

namespace armillary::native {

template <class T>
struct MatrixView {
  T* data;
  int64_t rows, cols, row_stride, col_stride;

  T& operator()(int64_t i, int64_t j) const { return data[i * row_stride + j * col_stride]; }
  MatrixView block(int64_t row, int64_t col, int64_t row_count, int64_t col_count) const {
    return {&(*this)(row, col), row_count, col_count, row_stride, col_stride};
  }
  MatrixView transposed() const { return {data, cols, rows, col_stride, row_stride}; }
  // Rows (and columns) from the last to the first.
  MatrixView rows_reversed() const {
    return {data + (rows - 1) * row_stride, rows, cols, -row_stride, col_stride};
  }
  MatrixView reversed() const { return {&(*this)(rows - 1, cols - 1), rows, cols, -row_stride, -col_stride}; }
};

template <class T>
MatrixView<T> row_major(T* data, int64_t rows, int64_t cols) {
  return {data, rows, cols, cols, 1};
}

inline float conjugate(float v) { return v; }
inline double conjugate(double v) { return v; }
template <class R>
std::complex<R> conjugate(std::complex<R> v) {
  return std::conj(v);
}

template <class T>
constexpr DType dtype_of_value() {
  if constexpr (std::is_same_v<T, float>) return DType::kF32;
  if constexpr (std::is_same_v<T, double>) return DType::kF64;
  if constexpr (std::is_same_v<T, std::complex<float>>) return DType::kC64;
  return DType::kC128;
}

// c = a b
template <class T>
void multiply(const MatrixView<T>& a, const MatrixView<T>& b, const MatrixView<T>& c) {
  auto axis = [](int64_t n, int64_t stride) {
    const Dims dims = {n}, strides = {stride};
    return Axis::of(dims, strides);
  };
  constexpr DType d = dtype_of_value<T>();
  const Axis one = Axis::of(std::vector<int64_t>{0});
  const GemmPlan plan{d,
                      {d, axis(a.rows, a.row_stride), axis(a.cols, a.col_stride), one},
                      {d, axis(b.cols, b.col_stride), axis(b.rows, b.row_stride), one},
                      {d, axis(c.rows, c.row_stride), axis(c.cols, c.col_stride), one}};
  gemm(plan, reinterpret_cast<const std::byte*>(a.data), reinterpret_cast<const std::byte*>(b.data),
       reinterpret_cast<std::byte*>(c.data));
}

}  // namespace armillary::native
