// Householder reflectors and what is built of them: QR with and without pivoting, Q itself, Hessenberg form.
#include <numeric>

#include "xla_core/interp/matrix.h"

namespace armillary {
namespace {

double reflector_tau(double alpha, double beta) { return (beta - alpha) / beta; }
Complex reflector_tau(Complex alpha, double beta) {
  return {(beta - alpha.real()) / beta, -alpha.imag() / beta};
}
bool is_real_number(double) { return true; }
bool is_real_number(Complex x) { return x.imag() == 0; }

// A (I - tau v v^H) on all rows of `a`, where v lies in column `col` from `row` on and meets the columns from
// `row` on.
template <class T>
void apply_reflector_right(const Matrix<T>& v, int64_t row, int64_t col, T tau, Matrix<T>& a) {
  for (int64_t i = 0; i < a.rows(); ++i) {
    T sum = a(i, row);
    for (int64_t k = row + 1; k < a.cols(); ++k) sum += a(i, k) * v(k, col);
    sum *= tau;
    a(i, row) -= sum;
    for (int64_t k = row + 1; k < a.cols(); ++k) a(i, k) -= sum * conjugate(v(k, col));
  }
}

}  // namespace

template <class T>
T make_reflector(Matrix<T>& a, int64_t row, int64_t col) {
  double norm = 0;  // of what lies below
  for (int64_t i = row + 1; i < a.rows(); ++i) norm = std::hypot(norm, std::abs(a(i, col)));
  const T alpha = a(row, col);
  if (norm == 0 && is_real_number(alpha)) return 0;
  const double beta = -std::copysign(std::hypot(std::abs(alpha), norm), real_part(alpha));
  for (int64_t i = row + 1; i < a.rows(); ++i) a(i, col) /= alpha - beta;
  a(row, col) = beta;
  return reflector_tau(alpha, beta);
}

template <class T>
void apply_reflector(const Matrix<T>& a, int64_t row, int64_t col, T tau, Matrix<T>& b, int64_t first,
                     int64_t last) {
  for (int64_t j = first; j < last; ++j) {
    T sum = b(row, j);
    for (int64_t i = row + 1; i < b.rows(); ++i) sum += conjugate(a(i, col)) * b(i, j);
    sum *= tau;
    b(row, j) -= sum;
    for (int64_t i = row + 1; i < b.rows(); ++i) b(i, j) -= sum * a(i, col);
  }
}

template <class T>
void factor_qr(Matrix<T>& a, std::vector<T>& taus) {
  taus.clear();
  for (int64_t k = 0; k < std::min(a.rows(), a.cols()); ++k) {
    taus.push_back(make_reflector(a, k, k));
    apply_reflector(a, k, k, conjugate(taus.back()), a, k + 1, a.cols());
  }
}

template <class T>
void factor_qr_pivoted(Matrix<T>& a, std::vector<T>& taus, std::vector<int64_t>& order) {
  taus.clear();
  order.resize(static_cast<size_t>(a.cols()));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t k = 0; k < std::min(a.rows(), a.cols()); ++k) {
    int64_t best = k;
    double best_norm = -1;
    for (int64_t j = k; j < a.cols(); ++j) {
      double norm = 0;
      for (int64_t i = k; i < a.rows(); ++i) norm = std::hypot(norm, std::abs(a(i, j)));
      if (norm > best_norm) best = j, best_norm = norm;
    }
    for (int64_t i = 0; i < a.rows() && best != k; ++i) std::swap(a(i, k), a(i, best));
    std::swap(order[static_cast<size_t>(k)], order[static_cast<size_t>(best)]);
    taus.push_back(make_reflector(a, k, k));
    apply_reflector(a, k, k, conjugate(taus.back()), a, k + 1, a.cols());
  }
}

template <class T>
Matrix<T> product_of_reflectors(const Matrix<T>& a, const std::vector<T>& taus, int64_t cols) {
  Matrix<T> q(a.rows(), cols);
  for (int64_t i = 0; i < std::min(q.rows(), cols); ++i) q(i, i) = 1;
  for (int64_t k = static_cast<int64_t>(taus.size()); k-- > 0;)
    apply_reflector(a, k, k, taus[static_cast<size_t>(k)], q, 0, cols);
  return q;
}

template <class T>
void reduce_to_hessenberg(Matrix<T>& a, std::vector<T>& taus) {
  taus.clear();
  for (int64_t k = 0; k + 1 < a.rows(); ++k) {
    taus.push_back(make_reflector(a, k + 1, k));
    apply_reflector(a, k + 1, k, conjugate(taus.back()), a, k + 1, a.cols());
    apply_reflector_right(a, k + 1, k, taus.back(),
                          a);  // column k, where v lies, is left of those that change
  }
}

template double make_reflector(Matrix<double>&, int64_t, int64_t);
template void apply_reflector(const Matrix<double>&, int64_t, int64_t, double, Matrix<double>&, int64_t,
                              int64_t);
template void factor_qr(Matrix<double>&, std::vector<double>&);
template void factor_qr_pivoted(Matrix<double>&, std::vector<double>&, std::vector<int64_t>&);
template Matrix<double> product_of_reflectors(const Matrix<double>&, const std::vector<double>&, int64_t);
template void reduce_to_hessenberg(Matrix<double>&, std::vector<double>&);
template Complex make_reflector(Matrix<Complex>&, int64_t, int64_t);
template void apply_reflector(const Matrix<Complex>&, int64_t, int64_t, Complex, Matrix<Complex>&, int64_t,
                              int64_t);
template void factor_qr(Matrix<Complex>&, std::vector<Complex>&);
template void factor_qr_pivoted(Matrix<Complex>&, std::vector<Complex>&, std::vector<int64_t>&);
template Matrix<Complex> product_of_reflectors(const Matrix<Complex>&, const std::vector<Complex>&, int64_t);
template void reduce_to_hessenberg(Matrix<Complex>&, std::vector<Complex>&);

}  // namespace armillary
