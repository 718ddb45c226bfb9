// Small dense matrices of double or Complex, row-major: linear algebra from the textbook (Golub and Van Loan,
// "Matrix Computations").
#pragma once

#include <algorithm>
#include <vector>

#include "xla_core/interp/dense.h"

namespace armillary {

template <class T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(int64_t rows, int64_t cols) : rows_(rows), cols_(cols), values_(static_cast<size_t>(rows * cols)) {}
  static Matrix identity(int64_t n);

  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  T& operator()(int64_t i, int64_t j) { return values_[static_cast<size_t>(i * cols_ + j)]; }
  const T& operator()(int64_t i, int64_t j) const { return values_[static_cast<size_t>(i * cols_ + j)]; }
  std::vector<T>& values() { return values_; }
  const std::vector<T>& values() const { return values_; }

 private:
  int64_t rows_ = 0, cols_ = 0;
  std::vector<T> values_;
};

inline double conjugate(double x) { return x; }
inline Complex conjugate(Complex x) { return std::conj(x); }
inline double real_part(double x) { return x; }
inline double real_part(Complex x) { return x.real(); }

template <class T>
Matrix<T> Matrix<T>::identity(int64_t n) {
  Matrix m(n, n);
  for (int64_t i = 0; i < n; ++i) m(i, i) = 1;
  return m;
}

template <class T>
Matrix<T> adjoint(const Matrix<T>& a) {
  Matrix<T> result(a.cols(), a.rows());
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t j = 0; j < a.cols(); ++j) result(j, i) = conjugate(a(i, j));
  return result;
}

template <class T>
Matrix<T> operator*(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> result(a.rows(), b.cols());
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t k = 0; k < a.cols(); ++k)
      for (int64_t j = 0; j < b.cols(); ++j) result(i, j) += a(i, k) * b(k, j);
  return result;
}

// Matrix number `index` of a stack.
template <class T>
Matrix<T> read_matrix(const Literal& literal, int64_t index) {
  const MatrixStack stack(literal.shape());
  Matrix<T> m(stack.rows, stack.cols);
  for (int64_t k = 0; k < stack.size(); ++k)
    m.values()[static_cast<size_t>(k)] = element_as<T>(literal, index * stack.size() + k);
  return m;
}

template <class T>
void write_matrix(Literal& literal, int64_t index, const Matrix<T>& m) {
  const int64_t size = m.rows() * m.cols();
  for (int64_t k = 0; k < size; ++k)
    set_element<T>(literal, index * size + k, m.values()[static_cast<size_t>(k)]);
}

// Vector number `index` of a stack of vectors.
template <class T>
std::vector<T> read_vector(const Literal& literal, int64_t index) {
  const int64_t size = literal.shape().dims.back();
  std::vector<T> values;
  for (int64_t k = 0; k < size; ++k) values.push_back(element_as<T>(literal, index * size + k));
  return values;
}

template <class T>
void write_vector(Literal& literal, int64_t index, const std::vector<T>& values) {
  const int64_t size = static_cast<int64_t>(values.size());
  for (int64_t k = 0; k < size; ++k)
    set_element<T>(literal, index * size + k, values[static_cast<size_t>(k)]);
}

enum class Transposition : uint8_t { kNone, kTranspose, kAdjoint };

// How a triangular matrix is to be read.
struct Triangle {
  bool lower = true;
  bool unit_diagonal = false;
  Transposition transposition = Transposition::kNone;
};

// Everything below works in place and is instantiated for double and Complex. `info` follows LAPACK: 0, or
// the 1-based number of the row where the algorithm failed.

// The factor of a Hermitian matrix, of which only the named triangle is read; the other becomes zero.
template <class T>
int64_t factor_cholesky(Matrix<T>& a, bool lower);
// X with op(A) X = B (left) or X op(A) = B.
template <class T>
void solve_triangular(const Matrix<T>& a, Matrix<T>& b, bool left, Triangle triangle);
// P A = L U; pivots[i] is the row that row i was swapped with.
template <class T>
int64_t factor_lu(Matrix<T>& a, std::vector<int64_t>& pivots);

// Householder reflectors H = 1 - tau v v^H with v[0] = 1, stored as LAPACK stores them. Column `col` from row
// `row` on becomes (beta, v[1:]).
template <class T>
T make_reflector(Matrix<T>& a, int64_t row, int64_t col);
// H or H^H from the left, on rows `row`.. and columns first .. last of `b`; v lies in column `col` of `a`
// from `row` on.
template <class T>
void apply_reflector(const Matrix<T>& a, int64_t row, int64_t col, T tau, Matrix<T>& b, int64_t first,
                     int64_t last);
template <class T>
void factor_qr(Matrix<T>& a, std::vector<T>& taus);
// As factor_qr of A[:, order], which puts the column of largest remaining norm next.
template <class T>
void factor_qr_pivoted(Matrix<T>& a, std::vector<T>& taus, std::vector<int64_t>& order);
// The first `cols` columns of Q.
template <class T>
Matrix<T> product_of_reflectors(const Matrix<T>& a, const std::vector<T>& taus, int64_t cols);
// Q^H A Q is upper Hessenberg; reflectors below the subdiagonal.
template <class T>
void reduce_to_hessenberg(Matrix<T>& a, std::vector<T>& taus);

// Eigenvalues ascending, eigenvectors in columns; reads the named triangle.
template <class T>
std::vector<double> eigen_hermitian(Matrix<T>& a, bool lower);
// A = U diag(s) V^H, s descending; U and V have min(rows, cols) columns, or as many as rows when `full`.
template <class T>
std::vector<double> singular_values(const Matrix<T>& a, bool full, Matrix<T>& u, Matrix<T>& v_adjoint);
// A = Z T Z^H with T upper triangular. False when the iteration does not converge.
bool schur(Matrix<Complex>& a, Matrix<Complex>& z);
// The same in real numbers: T has 2x2 blocks for complex pairs.
bool real_schur(Matrix<double>& a, Matrix<double>& z);
// Eigenvectors of an upper triangular T, each of norm 1, in columns.
Matrix<Complex> eigenvectors_of_triangular(const Matrix<Complex>& t);

}  // namespace armillary
