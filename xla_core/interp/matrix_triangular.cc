// Cholesky, LU and triangular solves.
#include "xla_core/interp/matrix.h"

namespace armillary {

template <class T>
int64_t factor_cholesky(Matrix<T>& a, bool lower) {
  if (!lower) a = adjoint(a);
  const int64_t n = a.rows();
  for (int64_t j = 0; j < n; ++j) {
    double pivot = real_part(a(j, j));
    for (int64_t k = 0; k < j; ++k) pivot -= std::norm(a(j, k));
    if (!(pivot > 0)) return j + 1;
    a(j, j) = std::sqrt(pivot);
    for (int64_t i = j + 1; i < n; ++i) {
      T sum = a(i, j);
      for (int64_t k = 0; k < j; ++k) sum -= a(i, k) * conjugate(a(j, k));
      a(i, j) = sum / a(j, j);
    }
    for (int64_t i = 0; i < j; ++i) a(i, j) = 0;
  }
  if (!lower) a = adjoint(a);
  return 0;
}

template <class T>
void solve_triangular(const Matrix<T>& a, Matrix<T>& b, bool left, Triangle triangle) {
  const Transposition t = triangle.transposition;
  auto at = [&](int64_t i, int64_t j) {
    return t == Transposition::kNone        ? a(i, j)
           : t == Transposition::kTranspose ? a(j, i)
                                            : conjugate(a(j, i));
  };
  const int64_t n = a.rows(), others = left ? b.cols() : b.rows();
  auto x = [&](int64_t i, int64_t other) -> T& { return left ? b(i, other) : b(other, i); };
  // On the right the unknowns run along the columns of op(A), which turns the order round.
  const bool forward = (triangle.lower == (t == Transposition::kNone)) == left;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = forward ? step : n - 1 - step;
    for (int64_t o = 0; o < others; ++o) {
      T sum = x(i, o);
      for (int64_t before = 0; before < step; ++before) {
        const int64_t k = forward ? before : n - 1 - before;
        sum -= (left ? at(i, k) : at(k, i)) * x(k, o);
      }
      x(i, o) = triangle.unit_diagonal ? sum : sum / at(i, i);
    }
  }
}

namespace {

// By what LAPACK compares pivots: for complex numbers not the absolute value.
double pivot_size(double x) { return std::abs(x); }
double pivot_size(Complex x) { return std::abs(x.real()) + std::abs(x.imag()); }

}  // namespace

template <class T>
int64_t factor_lu(Matrix<T>& a, std::vector<int64_t>& pivots) {
  const int64_t m = a.rows(), n = a.cols();
  int64_t info = 0;
  pivots.clear();
  for (int64_t k = 0; k < std::min(m, n); ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < m; ++i)
      if (pivot_size(a(i, k)) > pivot_size(a(best, k))) best = i;
    pivots.push_back(best);
    if (a(best, k) == T(0)) {
      if (info == 0) info = k + 1;
      continue;
    }
    for (int64_t j = 0; j < n && best != k; ++j) std::swap(a(k, j), a(best, j));
    for (int64_t i = k + 1; i < m; ++i) {
      a(i, k) /= a(k, k);
      for (int64_t j = k + 1; j < n; ++j) a(i, j) -= a(i, k) * a(k, j);
    }
  }
  return info;
}

template int64_t factor_cholesky(Matrix<double>&, bool);
template int64_t factor_cholesky(Matrix<Complex>&, bool);
template void solve_triangular(const Matrix<double>&, Matrix<double>&, bool, Triangle);
template void solve_triangular(const Matrix<Complex>&, Matrix<Complex>&, bool, Triangle);
template int64_t factor_lu(Matrix<double>&, std::vector<int64_t>&);
template int64_t factor_lu(Matrix<Complex>&, std::vector<int64_t>&);

}  // namespace armillary
