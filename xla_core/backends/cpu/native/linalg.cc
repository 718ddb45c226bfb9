#include "xla_core/backends/cpu/native/linalg.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "xla_core/backends/cpu/native/convert.h"
#include "xla_core/backends/cpu/native/matrix_view.h"
#include "xla_core/base/error.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

// Rows that are solved or factored without multiplication; fixed, since it decides the order of summation.
constexpr int64_t kBlock = 64;
constexpr int64_t kColumnsPerTask = 64;

// Smith's division: no overflow on the way to a representable quotient.
template <class T>
T divided(T a, T b) {
  return a / b;
}
template <class R>
std::complex<R> divided(std::complex<R> a, std::complex<R> b) {
  const R c = b.real(), d = b.imag();
  if (d == 0) return {a.real() / c, a.imag() / c};
  if (std::abs(c) >= std::abs(d)) {
    const R r = d / c, den = c + d * r;
    return {(a.real() + a.imag() * r) / den, (a.imag() - a.real() * r) / den};
  }
  const R r = c / d, den = c * r + d;
  return {(a.real() * r + a.imag()) / den, (a.imag() * r - a.real()) / den};
}

template <class T>
T times(T a, T b) {
  return a * b;
}
template <class R>
std::complex<R> times(
    std::complex<R> a,
    std::complex<R> b) {  // without the library's repair of infinities, which costs a branch per product
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Copies a matrix, along its memory on the side that is less regular.
template <class T>
void copy_matrix(const MatrixView<T>& from, const MatrixView<T>& to) {
  if (std::abs(from.row_stride) == 1 || std::abs(to.row_stride) == 1) {
    for (int64_t j = 0; j < from.cols; ++j)
      for (int64_t i = 0; i < from.rows; ++i) to(i, j) = from(i, j);
  } else {
    for (int64_t i = 0; i < from.rows; ++i)
      for (int64_t j = 0; j < from.cols; ++j) to(i, j) = from(i, j);
  }
}

// Solves L x = b for a small lower triangle and a strip of columns, in a copy with contiguous rows.
template <class T>
void solve_strip(const MatrixView<T>& l, const MatrixView<T>& b, bool unit, std::vector<T>& rows) {
  const int64_t n = b.rows, m = b.cols;
  rows.resize(n * m);
  copy_matrix(b, row_major(rows.data(), n, m));
  for (int64_t i = 0; i < n; ++i) {
    T* x = rows.data() + i * m;
    for (int64_t k = 0; k < i; ++k) {
      const T f = l(i, k);
      const T* y = rows.data() + k * m;
      for (int64_t j = 0; j < m; ++j) x[j] -= times(f, y[j]);
    }
    if (unit) continue;
    const T d = l(i, i);
    for (int64_t j = 0; j < m; ++j) x[j] = divided(x[j], d);
  }
  copy_matrix(row_major(rows.data(), n, m), b);
}

template <class T>
void subtract(const MatrixView<T>& from, const MatrixView<T>& what) {
  parallel_for(from.rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, from.cols)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i)
                   for (int64_t j = 0; j < from.cols; ++j) from(i, j) -= what(i, j);
               });
}

// L x = b in place.
template <class T>
void solve_lower(const MatrixView<T>& l, const MatrixView<T>& b, bool unit) {
  std::unique_ptr<T[]> product;
  if (b.rows > kBlock) product = std::make_unique_for_overwrite<T[]>(kBlock * b.cols);
  for (int64_t i = 0; i < b.rows; i += kBlock) {
    const int64_t n = std::min(kBlock, b.rows - i);
    const MatrixView<T> rows = b.block(i, 0, n, b.cols);
    if (i > 0) {
      const MatrixView<T> known = row_major(product.get(), n, b.cols);
      multiply(l.block(i, 0, n, i), b.block(0, 0, i, b.cols), known);
      subtract(rows, known);
    }
    const int64_t strips = (b.cols + kColumnsPerTask - 1) / kColumnsPerTask;
    parallel_for(strips, std::max<int64_t>(1, 8192 / (n * n)), [&](int64_t begin, int64_t end) {
      std::vector<T> scratch;
      for (int64_t s = begin; s < end; ++s) {
        const int64_t col = s * kColumnsPerTask;
        solve_strip(l.block(i, i, n, n), rows.block(0, col, n, std::min(kColumnsPerTask, b.cols - col)), unit,
                    scratch);
      }
    });
  }
}

// Lower factor of a small block in place, its upper triangle zero. 0, or the 1-based row at which it is not
// positive definite.
template <class T>
int64_t factor_block(const MatrixView<T>& block) {
  const int64_t n = block.rows;
  T storage[kBlock * kBlock], column[kBlock];
  const MatrixView<T> a = row_major(storage, n, n);
  copy_matrix(block, a);
  for (int64_t j = 0; j < n; ++j) {
    const auto pivot = std::real(a(j, j));
    if (!(pivot > 0)) return j + 1;  // NaN too
    const auto root = std::sqrt(pivot);
    for (int64_t i = j; i < n; ++i) a(i, j) = i == j ? T(root) : a(i, j) / root;
    for (int64_t i = j + 1; i < n; ++i) column[i] = conjugate(a(i, j));
    for (int64_t i = j + 1; i < n; ++i) {
      const T f = a(i, j);
      T* row = storage + i * n;
      for (int64_t k = j + 1; k <= i; ++k) row[k] -= times(f, column[k]);
      a(j, i) = T(0);
    }
  }
  copy_matrix(a, block);
  return 0;
}

// Left-looking: a block column takes what all columns before it contribute in one product, then is factored.
template <class T>
int64_t factor_lower(const MatrixView<T>& a) {
  const int64_t n = a.rows;
  std::unique_ptr<T[]> product, across;
  if (n > kBlock) {
    product = std::make_unique_for_overwrite<T[]>(n * kBlock);
    across = std::make_unique_for_overwrite<T[]>(n * kBlock);
  }
  for (int64_t j = 0; j < n; j += kBlock) {
    const int64_t width = std::min(kBlock, n - j), below = n - j - width;
    if (j > 0) {
      const MatrixView<T> conjugates = row_major(across.get(), width, j);
      for (int64_t r = 0; r < width; ++r)
        for (int64_t k = 0; k < j; ++k) conjugates(r, k) = conjugate(a(j + r, k));
      const MatrixView<T> known = row_major(product.get(), n - j, width);
      multiply(a.block(j, 0, n - j, j), conjugates.transposed(), known);
      subtract(a.block(j, j, n - j, width), known);
    }
    const MatrixView<T> diagonal = a.block(j, j, width, width);
    if (const int64_t row = factor_block(diagonal)) return j + row;
    if (below == 0) continue;
    std::vector<T> conjugates(width * width);  // x conj(L)' = a, so conj(L) x' = a'
    const MatrixView<T> l = row_major(conjugates.data(), width, width);
    for (int64_t r = 0; r < width; ++r)
      for (int64_t c = 0; c <= r; ++c) l(r, c) = conjugate(diagonal(r, c));
    solve_lower(l, a.block(j + width, j, below, width).transposed(), false);
  }
  return 0;
}

// One matrix, read from one triangle; the other triangle of the result is zero. Returns what factor_block
// does.
template <class T>
int64_t cholesky_one(const T* in, bool lower, T* out, int64_t n) {
  const MatrixView<T> result = row_major(out, n, n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) out[i * n + j] = (lower ? j <= i : j >= i) ? in[i * n + j] : T(0);
  // The upper triangle seen through swapped strides is the lower triangle of the conjugate matrix: its factor
  // is the transpose of what we seek.
  return factor_lower(lower ? result : result.transposed());
}

// Batches are done side by side, or one after the other with the pool inside.
template <class Body>
void for_each_matrix(int64_t count, double work, const Body& body) {
  auto task = [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) body(b);
  };
  if (count < num_threads()) return task(0, count);
  parallel_for(count, std::max<int64_t>(1, static_cast<int64_t>(16384 / (work + 1))), task);
}

template <class T>
void cholesky_batch(const ArrayRef& operand, bool lower, const ArrayRef& result) {
  const int64_t n = operand.dims.back();
  for_each_matrix(operand.size() / (n * n), static_cast<double>(n) * n * n, [&](int64_t b) {
    T* out = result.as<T>() + b * n * n;
    if (cholesky_one(operand.as<T>() + b * n * n, lower, out, n) != 0)
      std::fill(out, out + n * n, T(std::numeric_limits<double>::quiet_NaN()));
  });
}

template <class T>
void factor_batch(const ArrayRef& operand, bool lower, const ArrayRef& result, int32_t* status) {
  const int64_t n = operand.dims.back();
  for_each_matrix(product({operand.dims.begin(), operand.dims.end() - 2}), static_cast<double>(n) * n * n,
                  [&](int64_t b) {
                    const T* in = operand.as<T>() + b * n * n;
                    T* out = result.as<T>() + b * n * n;
                    std::vector<T> copy;
                    if (in == out) copy.assign(in, in + n * n), in = copy.data();
                    status[b] = static_cast<int32_t>(cholesky_one(in, lower, out, n));
                    for (int64_t i = 0; i < n; ++i)
                      for (int64_t j = 0; j < n; ++j)
                        if (lower ? j > i : j < i) out[i * n + j] = in[i * n + j];
                  });
}

template <class T>
void solve_one(const T* a, T* b, int64_t n, int64_t rows, int64_t cols, const TriangularSolve& how) {
  std::unique_ptr<T[]> conjugates;
  if (how.transpose == TriangularSolve::kAdjoint) {
    conjugates = std::make_unique_for_overwrite<T[]>(n * n);
    for (int64_t i = 0; i < n * n; ++i) conjugates[i] = conjugate(a[i]);
    a = conjugates.get();
  }
  MatrixView<T> l = row_major(const_cast<T*>(a), n, n), x = row_major(b, rows, cols);
  bool lower = how.lower;
  if (how.transpose != TriangularSolve::kNone) l = l.transposed(), lower = !lower;
  if (!how.left_side) l = l.transposed(), lower = !lower, x = x.transposed();  // x a = b is a' x' = b'
  if (!lower) l = l.reversed(), x = x.rows_reversed();
  solve_lower(l, x, how.unit_diagonal);
}

template <class T>
void solve_batch(const ArrayRef& a, const ArrayRef& b, const TriangularSolve& how, const ArrayRef& result) {
  const int64_t n = a.dims.back(), rows = b.dims[b.rank() - 2], cols = b.dims.back(),
                count = a.size() / (n * n);
  if (b.data != result.data) std::memcpy(result.data, b.data, b.bytes());
  for_each_matrix(count, static_cast<double>(n) * rows * cols, [&](int64_t i) {
    solve_one(a.as<T>() + i * n * n, result.as<T>() + i * rows * cols, n, rows, cols, how);
  });
}

// Narrow floats are computed in f32.
bool is_narrow(DType d) { return is_float(d) && byte_size(d) < 4; }

}  // namespace

void cholesky(const ArrayRef& operand, bool lower, const ArrayRef& result) {
  if (operand.size() == 0) return;
  if (is_narrow(operand.dtype)) {
    std::unique_ptr<std::byte[]> storage;
    const ArrayRef wide = converted(operand, DType::kF32, storage);
    cholesky_batch<float>(wide, lower, wide);
    return narrow(wide.as<float>(), wide.size(), result.dtype, result.data);
  }
  switch (operand.dtype) {
    case DType::kF32:
      return cholesky_batch<float>(operand, lower, result);
    case DType::kF64:
      return cholesky_batch<double>(operand, lower, result);
    case DType::kC64:
      return cholesky_batch<std::complex<float>>(operand, lower, result);
    case DType::kC128:
      return cholesky_batch<std::complex<double>>(operand, lower, result);
    default:
      throw unsupported_error("cholesky of {}", to_string(operand.dtype));
  }
}

void cholesky_factor(const ArrayRef& operand, bool lower, const ArrayRef& result, int32_t* status) {
  switch (operand.dtype) {
    case DType::kF32:
      return factor_batch<float>(operand, lower, result, status);
    case DType::kF64:
      return factor_batch<double>(operand, lower, result, status);
    case DType::kC64:
      return factor_batch<std::complex<float>>(operand, lower, result, status);
    case DType::kC128:
      return factor_batch<std::complex<double>>(operand, lower, result, status);
    default:
      throw unsupported_error("cholesky of {}", to_string(operand.dtype));
  }
}

void triangular_solve(const ArrayRef& a, const ArrayRef& b, const TriangularSolve& how,
                      const ArrayRef& result) {
  if (b.size() == 0) return;
  if (is_narrow(a.dtype)) {
    std::unique_ptr<std::byte[]> a_storage, b_storage;
    const ArrayRef wide = converted(b, DType::kF32, b_storage);
    solve_batch<float>(converted(a, DType::kF32, a_storage), wide, how, wide);
    return narrow(wide.as<float>(), wide.size(), result.dtype, result.data);
  }
  switch (a.dtype) {
    case DType::kF32:
      return solve_batch<float>(a, b, how, result);
    case DType::kF64:
      return solve_batch<double>(a, b, how, result);
    case DType::kC64:
      return solve_batch<std::complex<float>>(a, b, how, result);
    case DType::kC128:
      return solve_batch<std::complex<double>>(a, b, how, result);
    default:
      throw unsupported_error("triangular-solve of {}", to_string(a.dtype));
  }
}

}  // namespace armillary::native
