#include "xla_core/backends/cpu/native/custom_calls.h"

#include <gtest/gtest.h>

#include "xla_core/backends/cpu/native/blas.h"
#include "xla_core/backends/cpu/native/lapack.h"
#include "xla_core/backends/cpu/native/test_arrays.h"
#include "xla_core/base/error.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

using C = std::complex<double>;

// A dense matrix for checking identities.
struct Matrix {
  int64_t rows, cols;
  std::vector<C> v;
  Matrix(int64_t r, int64_t c) : rows(r), cols(c), v(r * c) {}
  C& operator()(int64_t i, int64_t j) { return v[i * cols + j]; }
  C operator()(int64_t i, int64_t j) const { return v[i * cols + j]; }
  Matrix adjoint() const {
    Matrix t(cols, rows);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j) t(j, i) = std::conj((*this)(i, j));
    return t;
  }
  // Columns [0, n).
  Matrix left(int64_t n) const {
    Matrix t(rows, n);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < n; ++j) t(i, j) = (*this)(i, j);
    return t;
  }
  static Matrix identity(int64_t n) {
    Matrix t(n, n);
    for (int64_t i = 0; i < n; ++i) t(i, i) = 1;
    return t;
  }
};
Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.cols);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t k = 0; k < a.cols; ++k)
      for (int64_t j = 0; j < b.cols; ++j) c(i, j) += a(i, k) * b(k, j);
  return c;
}

Matrix matrix(const Array& a, int64_t batch) {
  Matrix m(a.dims()[a.rank() - 2], a.dims().back());
  for (size_t i = 0; i < m.v.size(); ++i) m.v[i] = a.value(batch * static_cast<int64_t>(m.v.size()) + i);
  return m;
}
Matrix diagonal(const Array& a, int64_t batch, int64_t rows, int64_t cols) {
  Matrix m(rows, cols);
  for (int64_t i = 0; i < std::min(rows, cols); ++i) m(i, i) = a.value(batch * a.dims().back() + i);
  return m;
}
Matrix triangle(const Matrix& a, bool lower, bool unit = false) {
  Matrix t(a.rows, a.cols);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.cols; ++j)
      t(i, j) = i == j && unit ? C(1) : (lower ? j <= i : j >= i) ? a(i, j) : C(0);
  return t;
}

constexpr int64_t kBatch = 3;

class Lapack : public testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (!blas_loaded()) GTEST_SKIP() << "no OpenBLAS: set ARMILLARY_BLAS to its shared library";
    set_num_threads(2);
  }
  DType type() const { return GetParam(); }
  DType real() const { return real_part_of(type()); }
  std::string target(std::string routine) const {
    if (is_complex(type())) {
      if (routine == "syevd" || routine == "sytrd") routine.replace(0, 2, "he");
      if (routine.starts_with("or")) routine.replace(0, 2, "un");
    }
    const char prefix = type() == DType::kF32   ? 's'
                        : type() == DType::kF64 ? 'd'
                        : type() == DType::kC64 ? 'c'
                                                : 'z';
    return "lapack_" + (prefix + routine) + "_ffi";
  }
  void run(const std::string& routine, const std::string& config, std::vector<Array*> in,
           std::vector<Array*> out) {
    std::vector<ArrayRef> operands, results;
    for (Array* a : in) operands.push_back(a->ref());
    for (Array* a : out) a->fill_garbage(), results.push_back(a->ref());
    std::string error;
    ASSERT_TRUE(run_custom_call(target(routine), config, operands, results, &error)) << error;
  }
  void same(const Matrix& got, const Matrix& want) const {
    ASSERT_EQ(got.v.size(), want.v.size());
    const double tolerance = 60 * epsilon_of(type());
    for (size_t i = 0; i < want.v.size(); ++i)
      ASSERT_LE(std::abs(got.v[i] - want.v[i]), tolerance * 4)
          << "element " << i << ": " << got.v[i] << " " << want.v[i];
  }
  void zero(Array& status) const {
    for (int64_t i = 0; i < status.size(); ++i) ASSERT_EQ(status.literal().get_int(i), 0);
  }
  Array hermitian(int64_t n, double shift) const {
    Array g = random_array(type(), {kBatch, n, n}, 4), a(type(), {kBatch, n, n});
    for (int64_t b = 0; b < kBatch; ++b)
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
          a.set(Dims{b, i, j},
                (g.value(Dims{b, i, j}) + std::conj(g.value(Dims{b, j, i}))) / 2.0 + (i == j ? shift : 0));
    return a;
  }
};

TEST_P(Lapack, potrf_factors_and_tells_where_it_failed) {
  Array a = hermitian(5, 5), out(type(), a.dims()), info(DType::kS32, {kBatch});
  a.set(Dims{1, 2, 2}, -9);
  run("potrf", "{uplo = 76 : ui8}", {&a}, {&out, &info});
  for (int64_t b : {0, 2})
    same(triangle(matrix(out, b), true) * triangle(matrix(out, b), true).adjoint(), matrix(a, b));
  EXPECT_EQ(info.as<int>()[0], 0);
  EXPECT_EQ(info.as<int>()[1], 3);
}

TEST_P(Lapack, getrf_gives_rows_exchanged) {
  for (auto [m, n] : {std::pair{4, 4}, {5, 3}, {3, 5}}) {
    const int64_t k = std::min(m, n);
    Array a = random_array(type(), {kBatch, m, n}, 1), lu(type(), a.dims()), pivots(DType::kS32, {kBatch, k}),
          info(DType::kS32, {kBatch});
    run("getrf", "{}", {&a}, {&lu, &pivots, &info});
    zero(info);
    for (int64_t b = 0; b < kBatch; ++b) {
      Matrix l = triangle(matrix(lu, b), true, true).left(k), u(k, n), pa = matrix(a, b);
      for (int64_t i = 0; i < k; ++i)
        for (int64_t j = i; j < n; ++j) u(i, j) = matrix(lu, b)(i, j);
      for (int64_t i = 0; i < k; ++i)
        for (int64_t j = 0; j < n; ++j) std::swap(pa(i, j), pa(pivots.as<int>()[b * k + i] - 1, j));
      same(l * u, pa);
    }
  }
}

TEST_P(Lapack, qr_family_agrees) {
  const int64_t m = 6, n = 4;
  Array a = random_array(type(), {kBatch, m, n}, 1), qr(type(), a.dims()), tau(type(), {kBatch, n}),
        q(type(), a.dims()), qta(type(), a.dims());
  run("geqrf", "{}", {&a}, {&qr, &tau});
  run("orgqr", "{}", {&qr, &tau}, {&q});
  run("ormqr", "{left = true, transpose = true}", {&qr, &tau, &a}, {&qta});
  Array jpvt(DType::kS32, {kBatch, n}), p_out(DType::kS32, {kBatch, n}), pqr(type(), a.dims()),
      ptau(type(), {kBatch, n}), pq(type(), a.dims());
  run("geqp3", "{}", {&a, &jpvt}, {&pqr, &p_out, &ptau});
  run("orgqr", "{}", {&pqr, &ptau}, {&pq});
  for (int64_t b = 0; b < kBatch; ++b) {
    Matrix r(n, n), pr(n, n), ap(m, n), r_padded(m, n);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i; j < n; ++j)
        r_padded(i, j) = r(i, j) = matrix(qr, b)(i, j), pr(i, j) = matrix(pqr, b)(i, j);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) ap(i, j) = matrix(a, b)(i, p_out.as<int>()[b * n + j] - 1);
    same(matrix(q, b) * r, matrix(a, b));
    same(matrix(q, b).adjoint() * matrix(q, b), Matrix::identity(n));
    same(matrix(qta, b), r_padded);
    same(matrix(pq, b) * pr, ap);
  }
}

TEST_P(Lapack, syevd_diagonalises) {
  Array a = hermitian(6, 0), v(type(), a.dims()), w(real(), {kBatch, 6}), info(DType::kS32, {kBatch});
  run("syevd", "{mode = 86 : ui8, uplo = 76 : ui8}", {&a}, {&v, &w, &info});
  zero(info);
  for (int64_t b = 0; b < kBatch; ++b)
    same(matrix(v, b) * diagonal(w, b, 6, 6) * matrix(v, b).adjoint(), matrix(a, b));
}

TEST_P(Lapack, singular_values_rebuild_the_matrix) {
  for (const char* routine : {"gesdd", "gesvd"})
    for (auto [m, n] : {std::pair<int64_t, int64_t>{5, 3}, {3, 5}, {4, 4}})
      for (char mode : {'A', 'S', 'N'}) {
        const int64_t k = std::min(m, n), uk = mode == 'A' ? m : k, vk = mode == 'A' ? n : k;
        Array a = random_array(type(), {kBatch, m, n}, 1), x(type(), a.dims()), s(real(), {kBatch, k}),
              u(type(), {kBatch, m, uk}), vt(type(), {kBatch, vk, n}), info(DType::kS32, {kBatch});
        run(routine, "{mode = " + std::to_string(mode) + " : ui8}", {&a}, {&x, &s, &u, &vt, &info});
        zero(info);
        for (int64_t b = 0; b < kBatch && mode != 'N'; ++b)
          same(matrix(u, b) * diagonal(s, b, uk, vk) * matrix(vt, b), matrix(a, b));
        double squares = 0, values = 0;
        for (int64_t i = 0; i < a.size(); ++i) squares += std::norm(a.value(i));
        for (int64_t i = 0; i < s.size(); ++i) values += std::norm(s.value(i));
        EXPECT_NEAR(squares, values, 100 * epsilon_of(type()) * squares);
      }
}

TEST_P(Lapack, geev_gives_vectors_of_both_sides) {
  const int64_t n = 5;
  const DType complex = is_complex(type()) ? type() : complex_of(type());
  Array a = random_array(type(), {kBatch, n, n}, 1), wr(type(), {kBatch, n}), wi(type(), {kBatch, n}),
        vl(complex, a.dims()), vr(complex, a.dims()), info(DType::kS32, {kBatch});
  std::vector<Array*> out = {&wr, &vl, &vr, &info};
  if (!is_complex(type())) out.insert(out.begin() + 1, &wi);
  run("geev", "{compute_left = 86 : ui8, compute_right = 86 : ui8}", {&a}, out);
  zero(info);
  for (int64_t b = 0; b < kBatch; ++b) {
    Matrix w(n, n);
    for (int64_t i = 0; i < n; ++i)
      w(i, i) = is_complex(type()) ? wr.value(b * n + i)
                                   : C(wr.value(b * n + i).real(), wi.value(b * n + i).real());
    same(matrix(a, b) * matrix(vr, b), matrix(vr, b) * w);
    same(matrix(vl, b).adjoint() * matrix(a, b), w * matrix(vl, b).adjoint());
  }
}

TEST_P(Lapack, gees_gives_a_schur_form) {
  const int64_t n = 5;
  Array a = random_array(type(), {kBatch, n, n}, 1), t(type(), a.dims()), z(type(), a.dims()),
        wr(type(), {kBatch, n}), wi(type(), {kBatch, n}), sdim(DType::kS32, {kBatch}),
        info(DType::kS32, {kBatch});
  std::vector<Array*> out = {&t, &z, &wr, &sdim, &info};
  if (!is_complex(type())) out.insert(out.begin() + 3, &wi);
  run("gees", "{mode = 86 : ui8, sort = 78 : ui8}", {&a}, out);
  zero(info);
  for (int64_t b = 0; b < kBatch; ++b)
    same(matrix(z, b) * matrix(t, b) * matrix(z, b).adjoint(), matrix(a, b));
}

TEST_P(Lapack, gehrd_is_similar_to_its_operand) {
  const int64_t n = 5;
  Array a = random_array(type(), {kBatch, n, n}, 1), h(type(), a.dims()), tau(type(), {kBatch, n - 1}),
        info(DType::kS32, {kBatch});
  run("gehrd", "{high = 5 : i32, low = 1 : i32}", {&a}, {&h, &tau, &info});
  zero(info);
  for (int64_t b = 0; b < kBatch; ++b) {
    Matrix q = Matrix::identity(n), hess = matrix(h, b);
    for (int64_t k = 0; k + 1 < n; ++k) {  // q = q (1 - tau v v')
      Matrix v(n, 1), reflector = Matrix::identity(n);
      for (int64_t i = k + 1; i < n; ++i) v(i, 0) = i == k + 1 ? C(1) : matrix(h, b)(i, k);
      const Matrix vv = v * v.adjoint();
      for (size_t i = 0; i < vv.v.size(); ++i) reflector.v[i] -= tau.value(b * (n - 1) + k) * vv.v[i];
      q = q * reflector;
    }
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j + 1 < i; ++j) hess(i, j) = 0;
    same(q * hess * q.adjoint(), matrix(a, b));
  }
}

TEST_P(Lapack, sytrd_keeps_trace_and_norm) {
  const int64_t n = 6;
  Array a = hermitian(n, 0), out(type(), a.dims()), d(real(), {kBatch, n}), e(real(), {kBatch, n - 1}),
        tau(type(), {kBatch, n - 1}), info(DType::kS32, {kBatch});
  run("sytrd", "{uplo = 76 : ui8}", {&a}, {&out, &d, &e, &tau, &info});
  zero(info);
  for (int64_t b = 0; b < kBatch; ++b) {
    double trace = 0, norm = 0, diagonals = 0, squares = 0;
    for (int64_t i = 0; i < n; ++i) {
      trace += matrix(a, b)(i, i).real(), diagonals += d.value(b * n + i).real(),
          squares += std::norm(d.value(b * n + i));
      if (i + 1 < n) squares += 2 * std::norm(e.value(b * (n - 1) + i));
    }
    for (const C& v : matrix(a, b).v) norm += std::norm(v);
    EXPECT_NEAR(trace, diagonals, 100 * epsilon_of(type()));
    EXPECT_NEAR(norm, squares, 100 * epsilon_of(type()) * norm);
  }
}

TEST_P(Lapack, gtsv_and_trsm_solve_their_equations) {
  const int64_t n = 5, m = 3;
  Array dl = random_array(type(), {kBatch, n}, 1), d = random_array(type(), {kBatch, n}, 2),
        du = random_array(type(), {kBatch, n}, 3);
  Array b = random_array(type(), {kBatch, n, m}, 4), x(type(), b.dims()), o1(type(), d.dims()),
        o2(type(), d.dims()), o3(type(), d.dims()), info(DType::kS32, {kBatch});
  for (int64_t i = 0; i < d.size(); ++i) d.set(i, d.value(i) + 4.0);
  run("gtsv", "{}", {&dl, &d, &du, &b}, {&o1, &o2, &o3, &x, &info});
  zero(info);
  for (int64_t k = 0; k < kBatch; ++k) {
    Matrix a = diagonal(d, k, n, n);
    for (int64_t i = 1; i < n; ++i) a(i, i - 1) = dl.value(k * n + i), a(i - 1, i) = du.value(k * n + i - 1);
    same(a * matrix(x, k), matrix(b, k));
  }
  Array t = hermitian(n, 4), y(type(), b.dims());
  run("trsm", "{diag = 78 : ui8, side = 76 : ui8, trans_x = 67 : ui8, uplo = 85 : ui8}", {&t, &b}, {&y});
  for (int64_t k = 0; k < kBatch; ++k)
    same(triangle(matrix(t, k), false).adjoint() * matrix(y, k), matrix(b, k));
}

TEST_P(Lapack, matrices_that_are_not_finite_are_reported) {
  Array a = random_array(type(), {kBatch, 4, 4}, 1), v(type(), a.dims()), w(real(), {kBatch, 4}),
        info(DType::kS32, {kBatch});
  a.set(Dims{1, 0, 0}, INFINITY);
  run("syevd", "{mode = 86 : ui8, uplo = 76 : ui8}", {&a}, {&v, &w, &info});
  EXPECT_EQ(info.as<int>()[0], 0);
  EXPECT_LT(info.as<int>()[1], 0);
}

TEST_P(Lapack, wrong_calls_are_user_errors) {
  Array a(type(), {3, 3}), vector(type(), {3}), info(DType::kS32, {}), wide(DType::kS32, {2});
  EXPECT_THROW(run("potrf", "{uplo = 76 : ui8}", {&a}, {&a}), Error);
  EXPECT_THROW(run("potrf", "{uplo = 76 : ui8}", {&a}, {&a, &wide}), Error);
  EXPECT_THROW(run("potrf", "{}", {&a}, {&a, &info}), Error);
  EXPECT_THROW(run("potrf", "{uplo = 76 : ui8}", {&vector}, {&vector, &info}), Error);
  std::string error;
  EXPECT_FALSE(run_custom_call("lapack_sfoo_ffi", "", {}, {}, &error));
  EXPECT_EQ(error, "unsupported: custom-call to lapack_sfoo_ffi");
}

INSTANTIATE_TEST_SUITE_P(Types, Lapack, testing::Values(DType::kF32, DType::kF64, DType::kC64, DType::kC128),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST(Attributes, numbers_and_flags_are_read_by_name) {
  const auto a = parse_attributes("{uplo = 76 : ui8, left = true, low = -1 : i32, name = \"x\"}");
  EXPECT_EQ(a.at("uplo"), 76);
  EXPECT_EQ(a.at("left"), 1);
  EXPECT_EQ(a.at("low"), -1);
  EXPECT_FALSE(a.contains("name"));
  EXPECT_TRUE(parse_attributes("{}").empty());
}

}  // namespace
}  // namespace armillary::native
