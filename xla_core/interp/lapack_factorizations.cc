// LAPACK routines that factor and solve, by the conventions of JAX's foreign functions: results as the
// routine leaves them, in HLO's logical order (the column-major layout is the caller's affair), and `info` at
// the end.
#include "xla_core/interp/custom_call.h"
#include "xla_core/interp/matrix.h"

namespace armillary {
namespace {

bool is_letter(const Instruction& i, std::string_view name, char letter, char fallback) {
  return config_number(i, name, fallback) == letter;
}

// fn(double(), matrix number) or fn(Complex(), ...) for each matrix of the stack.
template <class Fn>
void for_each_matrix(const Literal& stack, Fn&& fn) {
  for (int64_t m = 0; m < MatrixStack(stack.shape()).count; ++m) {
    if (is_complex(stack.dtype()))
      fn(Complex(), m);
    else
      fn(double(), m);
  }
}

std::vector<Literal> results_of(const Instruction& i) {
  if (!i.shape().is_tuple()) return {Literal(i.shape())};
  return Literal(i.shape()).tuple();
}

// (a) -> (factor, info); the triangle that is not the factor keeps what was there.
Literal potrf(const Instruction& i, Operands operands) {
  const bool lower = is_letter(i, "uplo", 'L', 'L');
  std::vector<Literal> results = results_of(i);
  for_each_matrix(operands[0], [&](auto zero, int64_t m) {
    using T = decltype(zero);
    const Matrix<T> a = read_matrix<T>(operands[0], m);
    Matrix<T> factor = a;
    results[1].set_int(m, factor_cholesky(factor, lower));
    for (int64_t r = 0; r < a.rows(); ++r)
      for (int64_t c = 0; c < a.cols(); ++c)
        if (lower ? c > r : c < r) factor(r, c) = a(r, c);
    write_matrix(results[0], m, factor);
  });
  return tuple_or_single(results, i.shape());
}

// (a) -> (lu, pivots from 1, info)
Literal getrf(const Instruction& i, Operands operands) {
  std::vector<Literal> results = results_of(i);
  for_each_matrix(operands[0], [&](auto zero, int64_t m) {
    using T = decltype(zero);
    Matrix<T> a = read_matrix<T>(operands[0], m);
    std::vector<int64_t> pivots;
    results[2].set_int(m, factor_lu(a, pivots));
    for (int64_t& p : pivots) ++p;
    write_matrix(results[0], m, a);
    write_vector(results[1], m, pivots);
  });
  return tuple_or_single(results, i.shape());
}

// (a) -> (R over reflectors, taus)
Literal geqrf(const Instruction& i, Operands operands) {
  std::vector<Literal> results = results_of(i);
  for_each_matrix(operands[0], [&](auto zero, int64_t m) {
    using T = decltype(zero);
    Matrix<T> a = read_matrix<T>(operands[0], m);
    std::vector<T> taus;
    factor_qr(a, taus);
    write_matrix(results[0], m, a);
    write_vector(results[1], m, taus);
  });
  return tuple_or_single(results, i.shape());
}

// (a, order) -> (R over reflectors, order from 1, taus)
Literal geqp3(const Instruction& i, Operands operands) {
  std::vector<Literal> results = results_of(i);
  for (int64_t k = 0; k < operands[1].size(); ++k)
    if (operands[1].get_int(k) != 0)
      throw unsupported_error("unsupported: geqp3 with columns fixed in front");
  for_each_matrix(operands[0], [&](auto zero, int64_t m) {
    using T = decltype(zero);
    Matrix<T> a = read_matrix<T>(operands[0], m);
    std::vector<T> taus;
    std::vector<int64_t> order;
    factor_qr_pivoted(a, taus, order);
    for (int64_t& o : order) ++o;
    write_matrix(results[0], m, a);
    write_vector(results[1], m, order);
    write_vector(results[2], m, taus);
  });
  return tuple_or_single(results, i.shape());
}

// (reflectors, taus) -> Q
Literal orgqr(const Instruction& i, Operands operands) {
  Literal result(i.shape());
  for_each_matrix(operands[0], [&](auto zero, int64_t m) {
    using T = decltype(zero);
    const Matrix<T> a = read_matrix<T>(operands[0], m);
    write_matrix(result, m, product_of_reflectors(a, read_vector<T>(operands[1], m), a.cols()));
  });
  return result;
}

// (reflectors, taus, c) -> Q c, Q^H c, c Q or c Q^H
Literal ormqr(const Instruction& i, Operands operands) {
  const bool left = config_number(i, "left", 1), transpose = config_number(i, "transpose", 0);
  Literal result(i.shape());
  for_each_matrix(operands[0], [&](auto zero, int64_t m) {
    using T = decltype(zero);
    const Matrix<T> a = read_matrix<T>(operands[0], m), c = read_matrix<T>(operands[2], m);
    Matrix<T> q = product_of_reflectors(a, read_vector<T>(operands[1], m), a.rows());
    if (transpose) q = adjoint(q);
    write_matrix(result, m, left ? q * c : c * q);
  });
  return result;
}

// (a, b) -> x
Literal trsm(const Instruction& i, Operands operands) {
  const int64_t transposition = config_number(i, "trans_x", 'N');
  const Triangle triangle{is_letter(i, "uplo", 'L', 'L'), is_letter(i, "diag", 'U', 'N'),
                          transposition == 'T'   ? Transposition::kTranspose
                          : transposition == 'C' ? Transposition::kAdjoint
                                                 : Transposition::kNone};
  Literal result(i.shape());
  for_each_matrix(operands[0], [&](auto zero, int64_t m) {
    using T = decltype(zero);
    Matrix<T> b = read_matrix<T>(operands[1], m);
    solve_triangular(read_matrix<T>(operands[0], m), b, is_letter(i, "side", 'L', 'L'), triangle);
    write_matrix(result, m, b);
  });
  return result;
}

// Elimination with neighbours as the only rivals for the pivot; `further` is the second diagonal above that
// this makes. lower[r] stands in row r (lower[0] means nothing), upper[r] too.
template <class T>
int64_t solve_tridiagonal(std::vector<T>& lower, std::vector<T>& diagonal, std::vector<T>& upper,
                          Matrix<T>& b) {
  const int64_t n = b.rows();
  auto at = [](auto& v, int64_t k) -> T& { return v[static_cast<size_t>(k)]; };
  std::vector<T> further(static_cast<size_t>(n));
  for (int64_t k = 0; k + 1 < n; ++k) {
    if (std::abs(at(lower, k + 1)) > std::abs(at(diagonal, k))) {  // swap rows k and k + 1
      std::swap(at(diagonal, k), at(lower, k + 1));
      std::swap(at(upper, k), at(diagonal, k + 1));
      std::swap(at(further, k), at(upper, k + 1));
      for (int64_t j = 0; j < b.cols(); ++j) std::swap(b(k, j), b(k + 1, j));
    }
    if (at(diagonal, k) == T(0)) return k + 1;
    const T factor = at(lower, k + 1) / at(diagonal, k);
    at(diagonal, k + 1) -= factor * at(upper, k);
    at(upper, k + 1) -= factor * at(further, k);
    for (int64_t j = 0; j < b.cols(); ++j) b(k + 1, j) -= factor * b(k, j);
  }
  if (n > 0 && at(diagonal, n - 1) == T(0)) return n;
  for (int64_t k = n; k-- > 0;)
    for (int64_t j = 0; j < b.cols(); ++j) {
      if (k + 1 < n) b(k, j) -= at(upper, k) * b(k + 1, j);
      if (k + 2 < n) b(k, j) -= at(further, k) * b(k + 2, j);
      b(k, j) /= at(diagonal, k);
    }
  return 0;
}

// (lower, diagonal, upper, b) -> (the three as the elimination leaves them, x, info)
Literal gtsv(const Instruction& i, Operands operands) {
  std::vector<Literal> results = results_of(i);
  for_each_matrix(operands[3], [&](auto zero, int64_t m) {
    using T = decltype(zero);
    std::vector<T> bands[] = {read_vector<T>(operands[0], m), read_vector<T>(operands[1], m),
                              read_vector<T>(operands[2], m)};
    Matrix<T> b = read_matrix<T>(operands[3], m);
    bands[2].back() = 0;  // outside the matrix
    results[4].set_int(m, solve_tridiagonal(bands[0], bands[1], bands[2], b));
    for (size_t k = 0; k < 3; ++k) write_vector(results[k], m, bands[k]);
    write_matrix(results[3], m, b);
  });
  return tuple_or_single(results, i.shape());
}

// (a, low, high) -> (H over reflectors, taus, info)
Literal gehrd(const Instruction& i, Operands operands) {
  std::vector<Literal> results = results_of(i);
  for_each_matrix(operands[0], [&](auto zero, int64_t m) {
    using T = decltype(zero);
    Matrix<T> a = read_matrix<T>(operands[0], m);
    std::vector<T> taus;
    reduce_to_hessenberg(a, taus);
    write_matrix(results[0], m, a);
    write_vector(results[1], m, taus);
  });
  return tuple_or_single(results, i.shape());
}

// (a) -> (reflectors below the subdiagonal, diagonal, subdiagonal, taus, info): the Hessenberg form of a
// Hermitian matrix.
Literal sytrd(const Instruction& i, Operands operands) {
  if (!is_letter(i, "uplo", 'L', 'L'))
    throw unsupported_error("unsupported: tridiagonal reduction of the upper triangle");
  std::vector<Literal> results = results_of(i);
  for_each_matrix(operands[0], [&](auto zero, int64_t m) {
    using T = decltype(zero);
    const Matrix<T> original = read_matrix<T>(operands[0], m);
    Matrix<T> a = original;
    for (int64_t r = 0; r < a.rows(); ++r)
      for (int64_t c = r + 1; c < a.cols(); ++c) a(r, c) = conjugate(a(c, r));
    std::vector<T> taus;
    std::vector<double> diagonal, off_diagonal;
    reduce_to_hessenberg(a, taus);
    for (int64_t k = 0; k < a.rows(); ++k) diagonal.push_back(real_part(a(k, k)));
    for (int64_t k = 0; k + 1 < a.rows(); ++k) off_diagonal.push_back(real_part(a(k + 1, k)));
    for (int64_t r = 0; r < a.rows(); ++r)
      for (int64_t c = r + 1; c < a.cols(); ++c) a(r, c) = original(r, c);
    write_matrix(results[0], m, a);
    write_vector(results[1], m, diagonal);
    write_vector(results[2], m, off_diagonal);
    write_vector(results[3], m, taus);
  });
  return tuple_or_single(results, i.shape());
}

}  // namespace

std::span<const CustomCallRow> lapack_factorizations() {
  static constexpr CustomCallRow rows[] = {
      {"potrf", potrf},
      {"getrf", getrf},
      {"geqrf", geqrf},
      {"geqp3", geqp3},
      {"orgqr", orgqr},
      {"ungqr", orgqr},
      {"ormqr", ormqr},
      {"unmqr", ormqr},
      {"trsm", trsm},
      {"gtsv", gtsv},
      {"gehrd", gehrd},
      {"sytrd", sytrd},
      {"hetrd", sytrd},
      // What XLA calls them where LAPACK is not at hand.
      {"Qr", geqrf},
      {"ProductOfElementaryHouseholderReflectors", orgqr},
  };
  return rows;
}

}  // namespace armillary
