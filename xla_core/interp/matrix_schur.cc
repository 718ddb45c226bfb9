// Schur forms by shifted QR iteration on the Hessenberg form (Golub and Van Loan, 7.5), and eigenvectors from
// them.
#include <limits>

#include "xla_core/interp/matrix.h"

namespace armillary {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int64_t kStepsPerValue = 60;

// Hessenberg form with the transformation in z.
template <class T>
void to_hessenberg(Matrix<T>& a, Matrix<T>& z) {
  std::vector<T> taus;
  reduce_to_hessenberg(a, taus);
  z = Matrix<T>::identity(a.rows());
  for (int64_t k = static_cast<int64_t>(taus.size()); k-- > 0;)
    apply_reflector(a, k + 1, k, taus[static_cast<size_t>(k)], z, 0, z.cols());
  for (int64_t i = 2; i < a.rows(); ++i)
    for (int64_t j = 0; j + 1 < i; ++j) a(i, j) = 0;
}

template <class T>
bool is_negligible(const Matrix<T>& a, int64_t k) {  // a(k, k - 1)
  double scale = std::abs(a(k, k)) + std::abs(a(k - 1, k - 1));
  if (scale == 0) scale = 1;
  return std::abs(a(k, k - 1)) < kEpsilon * scale;
}

// The unitary [[conj x, conj y], [-y, x]] / r from the left on rows k, k + 1 and its adjoint from the right.
template <class T>
void rotate(Matrix<T>& a, Matrix<T>& z, int64_t k, T x, T y) {
  const double r = std::hypot(std::abs(x), std::abs(y));
  if (r == 0) return;
  x /= r;
  y /= r;
  for (int64_t j = 0; j < a.cols(); ++j) {
    const T up = a(k, j), down = a(k + 1, j);
    a(k, j) = conjugate(x) * up + conjugate(y) * down;
    a(k + 1, j) = x * down - y * up;
  }
  for (Matrix<T>* m : {&a, &z})
    for (int64_t i = 0; i < m->rows(); ++i) {
      const T left = (*m)(i, k), right = (*m)(i, k + 1);
      (*m)(i, k) = x * left + y * right;
      (*m)(i, k + 1) = conjugate(x) * right - conjugate(y) * left;
    }
}

// The eigenvalue of the trailing 2x2 block that is nearer to its last element (Wilkinson).
Complex wilkinson_shift(const Matrix<Complex>& a, int64_t high) {
  const Complex p = a(high - 1, high - 1), q = a(high, high), half = (p - q) / 2.0;
  const Complex root = std::sqrt(half * half + a(high - 1, high) * a(high, high - 1));
  const Complex one = (p + q) / 2.0 + root, other = (p + q) / 2.0 - root;
  return std::abs(one - q) < std::abs(other - q) ? one : other;
}

// One implicit single-shift step on rows low .. high: the bulge is chased down.
void single_shift_step(Matrix<Complex>& a, Matrix<Complex>& z, int64_t low, int64_t high, Complex shift) {
  Complex x = a(low, low) - shift, y = a(low + 1, low);
  for (int64_t k = low; k < high; ++k) {
    rotate(a, z, k, x, y);
    if (k > low) a(k + 1, k - 1) = 0;
    if (k + 1 < high) {
      x = a(k + 1, k);
      y = a(k + 2, k);
    }
  }
}

// I - 2 v v^T / v^T v on rows and columns k .. k + n - 1, where it maps `x` onto a multiple of the first
// axis.
void reflect(Matrix<double>& a, Matrix<double>& z, int64_t k, std::vector<double> v) {
  const int64_t n = static_cast<int64_t>(v.size());
  double norm = 0, square = 0;
  for (double e : v) norm = std::hypot(norm, e);
  if (norm == 0) return;
  v[0] += std::copysign(norm, v[0]);
  for (double e : v) square += e * e;
  for (int64_t j = 0; j < a.cols(); ++j) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += v[static_cast<size_t>(i)] * a(k + i, j);
    for (int64_t i = 0; i < n; ++i) a(k + i, j) -= 2 * sum / square * v[static_cast<size_t>(i)];
  }
  for (Matrix<double>* m : {&a, &z})
    for (int64_t i = 0; i < m->rows(); ++i) {
      double sum = 0;
      for (int64_t j = 0; j < n; ++j) sum += v[static_cast<size_t>(j)] * (*m)(i, k + j);
      for (int64_t j = 0; j < n; ++j) (*m)(i, k + j) -= 2 * sum / square * v[static_cast<size_t>(j)];
    }
}

// One Francis step with the two shifts that have this sum and product.
void double_shift_step(Matrix<double>& a, Matrix<double>& z, int64_t low, int64_t high, double sum,
                       double product) {
  double x = a(low, low) * a(low, low) + a(low, low + 1) * a(low + 1, low) - sum * a(low, low) + product;
  double y = a(low + 1, low) * (a(low, low) + a(low + 1, low + 1) - sum);
  double w = a(low + 1, low) * a(low + 2, low + 1);
  for (int64_t k = low; k + 2 <= high; ++k) {
    reflect(a, z, k, {x, y, w});
    if (k > low) a(k + 1, k - 1) = a(k + 2, k - 1) = 0;  // at once, or the rounding errors there would spread
    x = a(k + 1, k);
    y = a(k + 2, k);
    w = k + 3 <= high ? a(k + 3, k) : 0;
  }
  reflect(a, z, high - 1, {x, y});
  a(high, high - 2) = 0;
}

// A 2x2 block with real eigenvalues becomes triangular, one with complex ones gets equal diagonal elements.
void standardize_block(Matrix<double>& a, Matrix<double>& z, int64_t k) {
  const double half = (a(k, k) - a(k + 1, k + 1)) / 2, b = a(k, k + 1), c = a(k + 1, k);
  const double discriminant = half * half + b * c;
  if (discriminant >= 0) {
    const double value = a(k + 1, k + 1) + half +
                         std::copysign(std::sqrt(discriminant), half);  // the one farther from the corner
    rotate(a, z, k, value - a(k + 1, k + 1), c);                        // (value - d, c) is its eigenvector
    a(k + 1, k) = 0;
  } else {
    const double angle = std::atan2(-2 * half, b + c) / 2;
    rotate(a, z, k, std::cos(angle), std::sin(angle));
  }
}

}  // namespace

bool schur(Matrix<Complex>& a, Matrix<Complex>& z) {
  to_hessenberg(a, z);
  int64_t steps = 0;
  for (int64_t high = a.rows() - 1; high > 0;) {
    int64_t low = high;
    while (low > 0 && !is_negligible(a, low)) --low;
    if (low > 0) a(low, low - 1) = 0;
    if (low == high) {
      --high;
      steps = 0;
      continue;
    }
    if (++steps > kStepsPerValue) return false;
    const Complex shift =
        steps % 10 == 0 ? a(high, high) + std::abs(a(high, high - 1)) : wilkinson_shift(a, high);
    single_shift_step(a, z, low, high, shift);
  }
  return true;
}

bool real_schur(Matrix<double>& a, Matrix<double>& z) {
  to_hessenberg(a, z);
  int64_t steps = 0;
  for (int64_t high = a.rows() - 1; high > 0;) {
    int64_t low = high;
    while (low > 0 && !is_negligible(a, low)) --low;
    if (low > 0) a(low, low - 1) = 0;
    if (high - low < 2) {
      if (low < high) standardize_block(a, z, low);
      high = low - 1;
      steps = 0;
      continue;
    }
    if (++steps > kStepsPerValue) return false;
    double sum = a(high - 1, high - 1) + a(high, high);
    double product = a(high - 1, high - 1) * a(high, high) - a(high - 1, high) * a(high, high - 1);
    if (steps % 10 == 0) {  // a shift out of line breaks cycles
      const double s = std::abs(a(high, high - 1)) + std::abs(a(high - 1, high - 2));
      sum = 1.5 * s;
      product = s * s;
    }
    double_shift_step(a, z, low, high, sum, product);
  }
  return true;
}

Matrix<Complex> eigenvectors_of_triangular(const Matrix<Complex>& t) {
  const int64_t n = t.rows();
  Matrix<Complex> vectors(n, n);
  double scale = std::numeric_limits<double>::min();
  for (const Complex& v : t.values()) scale = std::max(scale, std::abs(v));
  for (int64_t k = 0; k < n; ++k) {
    vectors(k, k) = 1;
    double norm = 1;
    for (int64_t i = k; i-- > 0;) {
      Complex sum = 0;
      for (int64_t j = i + 1; j <= k; ++j) sum -= t(i, j) * vectors(j, k);
      Complex gap = t(i, i) - t(k, k);
      if (std::abs(gap) < kEpsilon * scale)
        gap = kEpsilon * scale;  // equal eigenvalues: as LAPACK, a nearby problem
      vectors(i, k) = sum / gap;
      norm = std::hypot(norm, std::abs(vectors(i, k)));
    }
    for (int64_t i = 0; i <= k; ++i) vectors(i, k) /= norm;
  }
  return vectors;
}

}  // namespace armillary
