#include "xla_core/backends/cpu/native/linalg.h"

#include <gtest/gtest.h>

#include "xla_core/backends/cpu/native/test_arrays.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

using C = std::complex<double>;

// A well-conditioned Hermitian matrix per batch element; the triangle that must not be read holds NaN.
Array positive_definite(DType d, Dims dims, bool lower) {
  Array g = random_array(d, dims, 1), a(d, dims);
  const int64_t n = dims.back();
  for (int64_t b = 0; b < a.size() / (n * n); ++b)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        C sum = i == j ? 0.3 * static_cast<double>(n) : 0;
        for (int64_t k = 0; k < n; ++k)
          sum += g.value((b * n + i) * n + k) * std::conj(g.value((b * n + j) * n + k));
        if (i == j) sum = sum.real();
        a.set((b * n + i) * n + j, (lower ? j > i : j < i) ? C(NAN, NAN) : sum);
      }
  return a;
}

void check_cholesky(DType d, Dims dims, bool lower) {
  Array a = positive_definite(d, dims, lower), factor(d, dims), back(d, dims), want(d, dims);
  const int64_t n = dims.back();
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    cholesky(a.ref(), lower, factor.ref());
    for (int64_t b = 0; b < a.size() / (n * n); ++b)
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) {
          auto f = [&](int64_t r, int64_t c) {
            return lower ? factor.value((b * n + r) * n + c) : std::conj(factor.value((b * n + c) * n + r));
          };
          C sum = 0;
          for (int64_t k = 0; k < n; ++k) sum += f(i, k) * std::conj(f(j, k));
          const bool read = lower ? j <= i : j >= i;
          back.set((b * n + i) * n + j, read ? sum : 0);
          want.set((b * n + i) * n + j, read ? a.value((b * n + i) * n + j) : 0);
          ASSERT_TRUE(read || factor.value((b * n + i) * n + j) == C(0));
        }
    expect_near(back, want, 40 * epsilon_of(d));
  }
}

TEST(Cholesky, the_factor_times_its_adjoint_is_the_matrix) {
  for (DType d : {DType::kF32, DType::kF64, DType::kC64, DType::kC128})
    for (bool lower : {true, false}) {
      check_cholesky(d, {3, 1, 1}, lower);
      check_cholesky(d, {2, 3, 7, 7}, lower);
      check_cholesky(d, {150, 150}, lower);
    }
  check_cholesky(DType::kBF16, {5, 5}, true);
}

TEST(Cholesky, a_matrix_that_is_not_positive_definite_gives_nan_alone) {
  Array a = positive_definite(DType::kF64, {3, 70, 70}, true), out(DType::kF64, {3, 70, 70});
  a.set(70 * 70 + 69 * 70 + 69, -1);
  cholesky(a.ref(), true, out.ref());
  for (int64_t i = 0; i < 3 * 4900; ++i) ASSERT_EQ(std::isnan(out.value(i).real()), i / 4900 == 1);
}

void check_solve(DType d, int64_t batch, int64_t n, int64_t m, const TriangularSolve& how) {
  Array a = random_array(d, {batch, n, n}, 1),
        b = random_array(d, how.left_side ? Dims{batch, n, m} : Dims{batch, m, n}, 2);
  Array x(d, b.dims()), back(d, b.dims());
  for (int64_t i = 0; i < batch * n; ++i) {
    for (int64_t j = 0; j < n; ++j) a.set(i * n + j, a.value(i * n + j) / static_cast<double>(n));
    a.set(i * n + i % n, C(2, is_complex(d) ? 1 : 0));
    for (int64_t j = 0; j < n; ++j)
      if (how.lower ? j > i % n : j < i % n) a.set(i * n + j, C(NAN, NAN));  // not to be read
    if (how.unit_diagonal) a.set(i * n + i % n, C(NAN, NAN));
  }
  auto element = [&](int64_t batch, int64_t i, int64_t j) -> C {
    if (how.transpose != TriangularSolve::kNone) std::swap(i, j);
    if (how.lower ? j > i : j < i) return 0;
    const C v = i == j && how.unit_diagonal ? 1 : a.value((batch * n + i) * n + j);
    return how.transpose == TriangularSolve::kAdjoint ? std::conj(v) : v;
  };
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    triangular_solve(a.ref(), b.ref(), how, x.ref());
    for_each_index(b.dims(), [&](const Dims& at) {
      C sum = 0;
      for (int64_t k = 0; k < n; ++k)
        sum += how.left_side ? element(at[0], at[1], k) * x.value(Dims{at[0], k, at[2]})
                             : x.value(Dims{at[0], at[1], k}) * element(at[0], k, at[2]);
      back.set(at, sum);
    });
    expect_near(back, b, 60 * epsilon_of(d));
  }
}

TEST(TriangularSolve, every_variant_solves_its_equation) {
  for (DType d : {DType::kF32, DType::kF64, DType::kC64, DType::kC128})
    for (int flags = 0; flags < 24; ++flags) {
      const TriangularSolve how{(flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0,
                                static_cast<TriangularSolve::Transpose>(flags / 8)};
      SCOPED_TRACE(std::string(to_string(d)) + " flags " + std::to_string(flags));
      check_solve(d, 3, 5, 4, how);
      check_solve(d, 1, 70, 20, how);
      check_solve(d, 2, 1, 1, how);
    }
}

}  // namespace
}  // namespace armillary::native
