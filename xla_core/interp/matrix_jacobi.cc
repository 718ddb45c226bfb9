// Eigenvalues of Hermitian matrices and singular values, by Jacobi's plane rotations: slow, and as accurate
// as can be.
#include <limits>
#include <numeric>

#include "xla_core/interp/matrix.h"

namespace armillary {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kMaxSweeps = 60;  // ten suffice; the limit stops on NaN

// The rotation that diagonalises [[p, h], [conj h, q]]: columns become c x - s phase y and s x + c phase y.
template <class T>
struct Rotation {
  double c, s;
  T phase;
  Rotation(double p, double q, T h) {
    const double size = std::abs(h), theta = (q - p) / (2 * size);
    const double t = std::copysign(1 / (std::abs(theta) + std::hypot(theta, 1.0)), theta);
    c = 1 / std::hypot(t, 1.0);
    s = t * c;
    phase = conjugate(h) / size;
  }
  void on_columns(Matrix<T>& m, int64_t p, int64_t q) const {
    for (int64_t i = 0; i < m.rows(); ++i) {
      const T x = m(i, p), y = m(i, q) * phase;
      m(i, p) = c * x - s * y;
      m(i, q) = s * x + c * y;
    }
  }
  void on_rows(Matrix<T>& m, int64_t p, int64_t q) const {
    for (int64_t j = 0; j < m.cols(); ++j) {
      const T x = m(p, j), y = m(q, j) * conjugate(phase);
      m(p, j) = c * x - s * y;
      m(q, j) = s * x + c * y;
    }
  }
};

template <class T>
Matrix<T> with_columns(const Matrix<T>& m, const std::vector<int64_t>& order) {
  Matrix<T> result(m.rows(), static_cast<int64_t>(order.size()));
  for (int64_t i = 0; i < m.rows(); ++i)
    for (size_t j = 0; j < order.size(); ++j) result(i, static_cast<int64_t>(j)) = m(i, order[j]);
  return result;
}

// Replaces column `col` of q by a unit vector orthogonal to the columns before it.
template <class T>
void complete_column(Matrix<T>& q, int64_t col) {
  double best = -1;
  std::vector<T> chosen, trial(static_cast<size_t>(q.rows()));
  for (int64_t axis = 0; axis < q.rows() && best < 0.5; ++axis) {
    std::fill(trial.begin(), trial.end(), T(0));
    trial[static_cast<size_t>(axis)] = 1;
    for (int pass = 0; pass < 2; ++pass)  // twice is enough
      for (int64_t j = 0; j < col; ++j) {
        T along = 0;
        for (int64_t i = 0; i < q.rows(); ++i) along += conjugate(q(i, j)) * trial[static_cast<size_t>(i)];
        for (int64_t i = 0; i < q.rows(); ++i) trial[static_cast<size_t>(i)] -= along * q(i, j);
      }
    double norm = 0;
    for (const T& v : trial) norm = std::hypot(norm, std::abs(v));
    if (norm > best) {
      best = norm;
      chosen = trial;
      for (T& v : chosen) v /= norm;
    }
  }
  for (int64_t i = 0; i < q.rows() && best > 0; ++i) q(i, col) = chosen[static_cast<size_t>(i)];
}

// One-sided: makes the columns of `a` orthogonal; `v` collects the rotations.
template <class T>
void orthogonalize_columns(Matrix<T>& a, Matrix<T>& v) {
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool rotated = false;
    for (int64_t p = 0; p < a.cols(); ++p)
      for (int64_t q = p + 1; q < a.cols(); ++q) {
        double pp = 0, qq = 0;
        T pq = 0;
        for (int64_t i = 0; i < a.rows(); ++i) {
          pp += std::norm(a(i, p));
          qq += std::norm(a(i, q));
          pq += conjugate(a(i, p)) * a(i, q);
        }
        if (!(std::abs(pq) > kEpsilon * std::sqrt(pp * qq)) ||
            std::abs(pq) < std::numeric_limits<double>::min())
          continue;
        const Rotation<T> r(pp, qq, pq);
        r.on_columns(a, p, q);
        r.on_columns(v, p, q);
        rotated = true;
      }
    if (!rotated) return;
  }
}

}  // namespace

template <class T>
std::vector<double> eigen_hermitian(Matrix<T>& a, bool lower) {
  const int64_t n = a.rows();
  for (int64_t i = 0; i < n; ++i) {
    a(i, i) = real_part(a(i, i));
    for (int64_t j = 0; j < i; ++j) (lower ? a(j, i) : a(i, j)) = conjugate(lower ? a(i, j) : a(j, i));
  }
  Matrix<T> vectors = Matrix<T>::identity(n);
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool rotated = false;
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q) {
        const double scale = std::sqrt(std::abs(a(p, p))) * std::sqrt(std::abs(a(q, q)));
        if (!(std::abs(a(p, q)) > kEpsilon * scale) || std::abs(a(p, q)) < std::numeric_limits<double>::min())
          continue;
        const Rotation<T> r(real_part(a(p, p)), real_part(a(q, q)), a(p, q));
        r.on_columns(a, p, q);
        r.on_rows(a, p, q);
        r.on_columns(vectors, p, q);
        a(p, q) = a(q, p) = 0;
        rotated = true;
      }
    if (!rotated) break;
  }
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t x, int64_t y) { return real_part(a(x, x)) < real_part(a(y, y)); });
  std::vector<double> values;
  for (int64_t k : order) values.push_back(real_part(a(k, k)));
  a = with_columns(vectors, order);
  return values;
}

template <class T>
std::vector<double> singular_values(const Matrix<T>& a, bool full, Matrix<T>& u, Matrix<T>& v_adjoint) {
  if (a.rows() < a.cols()) {  // A^H = V S U^H
    std::vector<double> values = singular_values(adjoint(a), full, v_adjoint, u);
    v_adjoint = adjoint(v_adjoint);
    u = adjoint(u);
    return values;
  }
  const int64_t n = a.cols();
  Matrix<T> columns = a, v = Matrix<T>::identity(n);
  orthogonalize_columns(columns, v);
  std::vector<double> norms(static_cast<size_t>(n));
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t j = 0; j < n; ++j)
      norms[static_cast<size_t>(j)] = std::hypot(norms[static_cast<size_t>(j)], std::abs(columns(i, j)));
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
    return norms[static_cast<size_t>(x)] > norms[static_cast<size_t>(y)];
  });
  columns = with_columns(columns, order);
  v_adjoint = adjoint(with_columns(v, order));
  u = Matrix<T>(a.rows(), full ? a.rows() : n);
  std::vector<double> values;
  for (int64_t j = 0; j < u.cols(); ++j) {
    if (j < n) values.push_back(norms[static_cast<size_t>(order[static_cast<size_t>(j)])]);
    // A column that is rounding error only has no direction of its own.
    if (j >= n || values[static_cast<size_t>(j)] <= values[0] * kEpsilon * 4)
      complete_column(u, j);
    else
      for (int64_t i = 0; i < u.rows(); ++i) u(i, j) = columns(i, j) / values[static_cast<size_t>(j)];
  }
  return values;
}

template std::vector<double> eigen_hermitian(Matrix<double>&, bool);
template std::vector<double> eigen_hermitian(Matrix<Complex>&, bool);
template std::vector<double> singular_values(const Matrix<double>&, bool, Matrix<double>&, Matrix<double>&);
template std::vector<double> singular_values(const Matrix<Complex>&, bool, Matrix<Complex>&,
                                             Matrix<Complex>&);

}  // namespace armillary
