// LAPACK routines by which JAX finds eigenvalues, singular values and Schur forms.
#include "xla_core/interp/custom_call.h"
#include "xla_core/interp/matrix.h"

namespace armillary {
namespace {

// (a) -> (eigenvectors, eigenvalues, info)
template <class T>
void eigen_one(const Instruction& i, const Literal& operand, int64_t m, std::vector<Literal>& results) {
  Matrix<T> a = read_matrix<T>(operand, m);
  const std::vector<double> values = eigen_hermitian(a, config_number(i, "uplo", 'L') == 'L');
  write_matrix(results[0], m, a);
  write_vector(results[1], m, values);
}

// (a) -> (a, s, u, v^H, info); mode A(ll), S(mall), N(one)
template <class T>
void svd_one(const Instruction& i, const Literal& operand, int64_t m, std::vector<Literal>& results) {
  const int64_t mode = config_number(i, "mode", 'A');
  Matrix<T> u, v_adjoint;
  const std::vector<double> values = singular_values(read_matrix<T>(operand, m), mode == 'A', u, v_adjoint);
  write_vector(results[1], m, values);
  if (mode == 'N') return;
  write_matrix(results[2], m, u);
  write_matrix(results[3], m, v_adjoint);
}

Matrix<Complex> to_complex(const Matrix<double>& m) {
  Matrix<Complex> result(m.rows(), m.cols());
  std::copy(m.values().begin(), m.values().end(), result.values().begin());
  return result;
}

// The complex Schur form. A real matrix goes through its real form first, so that complex eigenvalues are
// exact pairs.
bool complex_schur(const Matrix<double>& a, Matrix<Complex>& t, Matrix<Complex>& z) {
  Matrix<double> form = a, vectors;
  if (!real_schur(form, vectors)) return false;
  t = to_complex(form);
  const bool converged = schur(t, z);  // only the 2x2 blocks are left to do
  z = to_complex(vectors) * z;
  return converged;
}
bool complex_schur(const Matrix<Complex>& a, Matrix<Complex>& t, Matrix<Complex>& z) {
  t = a;
  return schur(t, z);
}

// Unit vectors whose largest component is real and positive.
void fix_phases(Matrix<Complex>& vectors) {
  for (int64_t j = 0; j < vectors.cols(); ++j) {
    Complex largest = 0;
    double norm = 0;
    for (int64_t i = 0; i < vectors.rows(); ++i) {
      if (std::abs(vectors(i, j)) > std::abs(largest)) largest = vectors(i, j);
      norm = std::hypot(norm, std::abs(vectors(i, j)));
    }
    for (int64_t i = 0; i < vectors.rows() && norm > 0; ++i)
      vectors(i, j) *= std::conj(largest) / std::abs(largest) / norm;
  }
}

// Eigenvectors of T^H for the conjugate eigenvalues, in the order of T's: T^H is upper triangular when read
// from the other end.
Matrix<Complex> left_eigenvectors_of_triangular(const Matrix<Complex>& t) {
  const int64_t n = t.rows();
  Matrix<Complex> flipped(n, n), left(n, n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) flipped(i, j) = std::conj(t(n - 1 - j, n - 1 - i));
  const Matrix<Complex> vectors = eigenvectors_of_triangular(flipped);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) left(i, j) = vectors(n - 1 - i, n - 1 - j);
  return left;
}

// (a) -> (eigenvalues, or their real and imaginary parts; left and right eigenvectors, info)
template <class T>
void geev_one(const Instruction& i, const Literal& operand, int64_t m, std::vector<Literal>& results) {
  Matrix<Complex> t, z;
  const size_t vectors = results.size() - 3;
  if (!complex_schur(read_matrix<T>(operand, m), t, z)) {
    results.back().set_int(m, 1);
    return;
  }
  for (int64_t k = 0; k < t.rows(); ++k) {
    const Complex value = t(k, k);
    if (vectors == 1)
      results[0].set_complex(m * t.rows() + k, value);
    else
      results[0].set_double(m * t.rows() + k, value.real()),
          results[1].set_double(m * t.rows() + k, value.imag());
  }
  if (config_number(i, "compute_left", 'V') == 'V') {
    Matrix<Complex> left = z * left_eigenvectors_of_triangular(t);
    fix_phases(left);
    write_matrix(results[vectors], m, left);
  }
  if (config_number(i, "compute_right", 'V') == 'V') {
    Matrix<Complex> right = z * eigenvectors_of_triangular(t);
    fix_phases(right);
    write_matrix(results[vectors + 1], m, right);
  }
}

// (a) -> (T, Z, eigenvalues, selected, info); real: eigenvalues in two arrays, T with 2x2 blocks.
void gees_one(const Instruction&, const Literal& operand, int64_t m, std::vector<Literal>& results, Complex) {
  Matrix<Complex> t = read_matrix<Complex>(operand, m), z;
  results.back().set_int(m, schur(t, z) ? 0 : 1);
  write_matrix(results[0], m, t);
  write_matrix(results[1], m, z);
  for (int64_t k = 0; k < t.rows(); ++k) results[2].set_complex(m * t.rows() + k, t(k, k));
}
void gees_one(const Instruction&, const Literal& operand, int64_t m, std::vector<Literal>& results, double) {
  Matrix<double> t = read_matrix<double>(operand, m), z;
  results.back().set_int(m, real_schur(t, z) ? 0 : 1);
  write_matrix(results[0], m, t);
  write_matrix(results[1], m, z);
  for (int64_t k = 0; k < t.rows(); ++k) {
    const double above = k > 0 ? t(k - 1, k) * t(k, k - 1) : 0,
                 below = k + 1 < t.rows() ? t(k, k + 1) * t(k + 1, k) : 0;
    results[2].set_double(m * t.rows() + k, t(k, k));
    results[3].set_double(m * t.rows() + k, below < 0   ? std::sqrt(-below)
                                            : above < 0 ? -std::sqrt(-above)
                                                        : 0);
  }
}

template <class Fn>
Literal for_all(const Instruction& i, Operands operands, Fn&& fn) {
  std::vector<Literal> results = Literal(i.shape()).tuple();
  for (int64_t m = 0; m < MatrixStack(operands[0].shape()).count; ++m) {
    if (is_complex(operands[0].dtype()))
      fn(Complex(), m, results);
    else
      fn(double(), m, results);
  }
  return tuple_or_single(std::move(results), i.shape());
}

Literal heevd(const Instruction& i, Operands operands) {
  return for_all(i, operands, [&](auto zero, int64_t m, auto& results) {
    eigen_one<decltype(zero)>(i, operands[0], m, results);
  });
}
Literal gesdd(const Instruction& i, Operands operands) {
  return for_all(i, operands, [&](auto zero, int64_t m, auto& results) {
    svd_one<decltype(zero)>(i, operands[0], m, results);
  });
}
Literal geev(const Instruction& i, Operands operands) {
  return for_all(i, operands, [&](auto zero, int64_t m, auto& results) {
    geev_one<decltype(zero)>(i, operands[0], m, results);
  });
}
Literal gees(const Instruction& i, Operands operands) {
  return for_all(i, operands,
                 [&](auto zero, int64_t m, auto& results) { gees_one(i, operands[0], m, results, zero); });
}

}  // namespace

std::span<const CustomCallRow> lapack_decompositions() {
  static constexpr CustomCallRow rows[] = {{"syevd", heevd}, {"heevd", heevd}, {"gesdd", gesdd},
                                           {"gesvd", gesdd}, {"geev", geev},   {"gees", gees}};
  return rows;
}

}  // namespace armillary
