#include "xla_core/interp/matrix.h"

#include <random>

#include <gtest/gtest.h>

namespace armillary {
namespace {

constexpr int kSeeds = 60;

void draw(std::mt19937_64& rng, double& x) { x = std::normal_distribution<double>()(rng); }
void draw(std::mt19937_64& rng, Complex& x) {
  x = {std::normal_distribution<double>()(rng), std::normal_distribution<double>()(rng)};
}

template <class T>
Matrix<T> random_matrix(std::mt19937_64& rng, int64_t rows, int64_t cols) {
  Matrix<T> m(rows, cols);
  for (T& x : m.values()) draw(rng, x);
  return m;
}

template <class T>
double distance(const Matrix<T>& a, const Matrix<T>& b) {
  double largest = 0;
  for (size_t k = 0; k < a.values().size(); ++k)
    largest = std::max(largest, std::abs(a.values()[k] - b.values()[k]));
  return largest;
}

template <class T>
double distance_from_unitary(const Matrix<T>& q) {
  return distance(adjoint(q) * q, Matrix<T>::identity(q.cols()));
}

template <class T>
class MatrixTest : public testing::Test {};
using Fields = testing::Types<double, Complex>;
TYPED_TEST_SUITE(MatrixTest, Fields);

// fn(rng, size) for many seeds and sizes; a failure names the seed.
template <class Fn>
void for_random(Fn&& fn) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 rng(static_cast<uint64_t>(seed));
    fn(rng, 1 + seed % 13);
  }
}

TYPED_TEST(MatrixTest, cholesky_times_its_adjoint_is_the_matrix) {
  for_random([](auto& rng, int64_t n) {
    const auto b = random_matrix<TypeParam>(rng, n, n + 2);
    const auto a = b * adjoint(b);
    for (bool lower : {true, false}) {
      auto l = a;
      ASSERT_EQ(factor_cholesky(l, lower), 0);
      EXPECT_LT(distance(lower ? l * adjoint(l) : adjoint(l) * l, a), 1e-11);
    }
  });
}

TYPED_TEST(MatrixTest, cholesky_names_the_row_that_is_not_positive) {
  auto a = Matrix<TypeParam>::identity(4);
  a(2, 2) = -1;
  EXPECT_EQ(factor_cholesky(a, true), 3);
}

TYPED_TEST(MatrixTest, triangular_solves_undo_the_product) {
  for_random([](auto& rng, int64_t n) {
    auto a = random_matrix<TypeParam>(rng, n, n);
    for (int64_t i = 0; i < n; ++i) a(i, i) += 4.0;
    for (bool left : {true, false})
      for (bool lower : {true, false})
        for (bool unit : {true, false})
          for (auto t : {Transposition::kNone, Transposition::kTranspose, Transposition::kAdjoint}) {
            auto op = a;
            for (int64_t i = 0; i < n; ++i)
              for (int64_t j = 0; j < n; ++j) {
                if (lower ? j > i : j < i) op(i, j) = 0;
                if (unit && i == j) op(i, j) = 1;
              }
            if (t != Transposition::kNone) op = adjoint(op);
            if (t == Transposition::kTranspose)
              for (auto& x : op.values()) x = conjugate(x);
            const auto x = random_matrix<TypeParam>(rng, left ? n : 3, left ? 3 : n);
            auto b = left ? op * x : x * op;
            solve_triangular(a, b, left, {lower, unit, t});
            EXPECT_LT(distance(b, x), 1e-4);
          }
  });
}

TYPED_TEST(MatrixTest, lu_with_its_pivots_gives_the_matrix_back) {
  for_random([](auto& rng, int64_t n) {
    const auto a = random_matrix<TypeParam>(rng, n, 1 + (n * 7) % 5);
    auto f = a;
    std::vector<int64_t> pivots;
    EXPECT_EQ(factor_lu(f, pivots), 0);
    const int64_t k = std::min(a.rows(), a.cols());
    Matrix<TypeParam> l(a.rows(), k), u(k, a.cols());
    for (int64_t i = 0; i < a.rows(); ++i)
      for (int64_t j = 0; j < k; ++j) l(i, j) = j < i ? f(i, j) : TypeParam(i == j);
    for (int64_t i = 0; i < k; ++i)
      for (int64_t j = i; j < a.cols(); ++j) u(i, j) = f(i, j);
    auto product = l * u;
    for (int64_t i = k; i-- > 0;)
      for (int64_t j = 0; j < a.cols(); ++j)
        std::swap(product(i, j), product(pivots[static_cast<size_t>(i)], j));
    EXPECT_LT(distance(product, a), 1e-12);
  });
}

TYPED_TEST(MatrixTest, q_is_unitary_and_q_times_r_is_the_matrix) {
  for_random([](auto& rng, int64_t n) {
    const auto a = random_matrix<TypeParam>(rng, n + 3, n);
    auto f = a;
    std::vector<TypeParam> taus;
    factor_qr(f, taus);
    const auto q = product_of_reflectors(f, taus, n);
    Matrix<TypeParam> r(n, n);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i; j < n; ++j) r(i, j) = f(i, j);
    EXPECT_LT(distance_from_unitary(q), 1e-13);
    EXPECT_LT(distance(q * r, a), 1e-12);
  });
}

TYPED_TEST(MatrixTest, eigenvectors_diagonalize_a_hermitian_matrix) {
  for_random([](auto& rng, int64_t n) {
    auto a = random_matrix<TypeParam>(rng, n, n);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j) a(j, i) = i == j ? TypeParam(real_part(a(i, i))) : conjugate(a(i, j));
    for (bool lower : {true, false}) {
      auto v = a;
      const std::vector<double> w = eigen_hermitian(v, lower);
      EXPECT_TRUE(std::is_sorted(w.begin(), w.end()));
      auto scaled = v;
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) scaled(i, j) *= w[static_cast<size_t>(j)];
      EXPECT_LT(distance(scaled * adjoint(v), a), 1e-12);
      EXPECT_LT(distance_from_unitary(v), 1e-13);
    }
  });
}

TYPED_TEST(MatrixTest, singular_vectors_are_orthonormal_even_without_full_rank) {
  for_random([](auto& rng, int64_t n) {
    auto a = random_matrix<TypeParam>(rng, n, 1 + (n * 5) % 7);
    if (n % 3 == 0) a = random_matrix<TypeParam>(rng, n, 1) * random_matrix<TypeParam>(rng, 1, 4);
    for (bool full : {true, false}) {
      Matrix<TypeParam> u, vh;
      const std::vector<double> s = singular_values(a, full, u, vh);
      EXPECT_TRUE(std::is_sorted(s.rbegin(), s.rend()));
      EXPECT_LT(distance_from_unitary(u), 1e-12);
      EXPECT_LT(distance_from_unitary(adjoint(vh)), 1e-12);
      Matrix<TypeParam> scaled(u.cols(), vh.rows());
      for (size_t k = 0; k < s.size(); ++k) scaled(static_cast<int64_t>(k), static_cast<int64_t>(k)) = s[k];
      EXPECT_LT(distance(u * scaled * vh, a), 1e-12);
    }
  });
}

TEST(Schur, forms_are_triangular_and_similar_to_the_matrix) {
  for_random([](auto& rng, int64_t n) {
    const auto a = random_matrix<Complex>(rng, n, n);
    auto t = a;
    Matrix<Complex> z;
    ASSERT_TRUE(schur(t, z));
    EXPECT_LT(distance(z * t * adjoint(z), a), 1e-12);
    EXPECT_LT(distance_from_unitary(z), 1e-12);
    for (int64_t i = 1; i < n; ++i) EXPECT_EQ(t(i, i - 1), 0.0);
  });
}

TEST(Schur, real_forms_keep_blocks_only_for_complex_pairs) {
  for_random([](auto& rng, int64_t n) {
    const auto a = random_matrix<double>(rng, n, n);
    auto t = a;
    Matrix<double> z;
    ASSERT_TRUE(real_schur(t, z));
    EXPECT_LT(distance(z * t * adjoint(z), a), 1e-12);
    EXPECT_LT(distance_from_unitary(z), 1e-12);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j + 1 < i; ++j) EXPECT_EQ(t(i, j), 0);
    for (int64_t i = 1; i < n; ++i) {
      if (t(i, i - 1) == 0) continue;
      EXPECT_LT(t(i, i - 1) * t(i - 1, i), 0);
      EXPECT_NEAR(t(i, i), t(i - 1, i - 1), 1e-12);
      const double before = i > 1 ? t(i - 1, i - 2) : 0;
      EXPECT_EQ(before, 0);
    }
  });
}

TEST(Schur, eigenvectors_of_a_triangular_matrix_are_its_eigenvectors) {
  for_random([](auto& rng, int64_t n) {
    auto t = random_matrix<Complex>(rng, n, n);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < i; ++j) t(i, j) = 0;
    const auto v = eigenvectors_of_triangular(t);
    auto scaled = v;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) scaled(i, j) *= t(j, j);
    EXPECT_LT(distance(t * v, scaled), 1e-10);
  });
}

}  // namespace
}  // namespace armillary
