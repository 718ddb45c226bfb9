// Factorizations, and solves with them: potrf, getrf, geqrf, geqp3, orgqr, ormqr, trsm, gtsv, gehrd, sytrd.
#include "xla_core/backends/cpu/native/lapack.h"
#include "xla_core/backends/cpu/native/linalg.h"

namespace armillary::native {
namespace {

template <class T>
constexpr DType kDType = dtype_of_value<T>();

// Our own: as quick as LAPACK's, on all cores, and there without a library.
template <class T>
void potrf(const LapackCall& c) {
  c.expect_counts(1, 2);
  const Stack s(c, c.operands[0]);
  c.expect(c.operands[0], kDType<T>, s.with({s.rows, s.rows}), "operand 0");
  c.expect(c.results[0], kDType<T>, c.operands[0].dims, "result 0");
  c.expect(c.results[1], DType::kS32, s.batch, "result 1");
  cholesky_factor(c.operands[0], c.letter("uplo") == 'L', c.results[0], c.results[1].as<int32_t>());
}

template <class T>
void getrf(const LapackCall& c) {
  c.expect_counts(1, 3);
  const Stack s(c, c.operands[0]);
  c.expect(c.operands[0], kDType<T>, s.with({s.rows, s.cols}), "operand 0");
  c.expect(c.results[0], kDType<T>, c.operands[0].dims, "result 0");
  c.expect(c.results[1], DType::kS32, s.with({s.smaller()}), "result 1");
  c.expect(c.results[2], DType::kS32, s.batch, "result 2");
  void* const f = routine<T>("getrf");
  for_each_matrix(s, [&] {
    return [&, a = std::vector<T>(s.size())](int64_t b) mutable {
      const int lda = at_least_one(s.rows);
      to_columns(c.operands[0].as<T>() + b * s.size(), s.rows, s.cols, a.data());
      call(f, &s.rows, &s.cols, a.data(), &lda, c.results[1].as<int>() + b * s.smaller(),
           c.results[2].as<int>() + b);
      to_rows(a.data(), s.rows, s.cols, c.results[0].as<T>() + b * s.size());
    };
  });
}

template <class T>
void geqrf(const LapackCall& c) {
  c.expect_counts(1, 2);
  const Stack s(c, c.operands[0]);
  c.expect(c.operands[0], kDType<T>, s.with({s.rows, s.cols}), "operand 0");
  c.expect(c.results[0], kDType<T>, c.operands[0].dims, "result 0");
  c.expect(c.results[1], kDType<T>, s.with({s.smaller()}), "result 1");
  void* const f = routine<T>("geqrf");
  const int lda = at_least_one(s.rows), query = -1;
  int info = 0;
  T size = 0;
  call(f, &s.rows, &s.cols, &size, &lda, &size, &size, &query, &info);
  const int lwork = queried(size);
  for_each_matrix(s, [&] {
    return [&, a = std::vector<T>(s.size()), work = std::vector<T>(lwork)](int64_t b) mutable {
      int status = 0;
      to_columns(c.operands[0].as<T>() + b * s.size(), s.rows, s.cols, a.data());
      call(f, &s.rows, &s.cols, a.data(), &lda, c.results[1].as<T>() + b * s.smaller(), work.data(), &lwork,
           &status);
      to_rows(a.data(), s.rows, s.cols, c.results[0].as<T>() + b * s.size());
    };
  });
}

template <class T>
void geqp3(const LapackCall& c) {
  c.expect_counts(2, 3);
  const Stack s(c, c.operands[0]);
  c.expect(c.operands[0], kDType<T>, s.with({s.rows, s.cols}), "operand 0");
  c.expect(c.operands[1], DType::kS32, s.with({s.cols}), "operand 1");
  c.expect(c.results[0], kDType<T>, c.operands[0].dims, "result 0");
  c.expect(c.results[1], DType::kS32, c.operands[1].dims, "result 1");
  c.expect(c.results[2], kDType<T>, s.with({s.smaller()}), "result 2");
  void* const f = routine<T>("geqp3");
  for_each_matrix(s, [&] {
    return [&, a = std::vector<T>(s.size()), real_work = std::vector<RealOf<T>>(2 * s.cols + 1),
            work = std::vector<T>(1)](int64_t b) mutable {
      int status = 0;
      const int lda = at_least_one(s.rows);
      to_columns(c.operands[0].as<T>() + b * s.size(), s.rows, s.cols, a.data());
      int* pivots = c.results[1].as<int>() + b * s.cols;
      std::copy_n(c.operands[1].as<int>() + b * s.cols, s.cols, pivots);
      auto run = [&](int lwork) {
        T* tau = c.results[2].as<T>() + b * s.smaller();
        if constexpr (kIsComplex<T>)
          call(f, &s.rows, &s.cols, a.data(), &lda, pivots, tau, work.data(), &lwork, real_work.data(),
               &status);
        else
          call(f, &s.rows, &s.cols, a.data(), &lda, pivots, tau, work.data(), &lwork, &status);
      };
      if (work.size() == 1) run(-1), work.resize(queried(work[0]) + 1);
      run(static_cast<int>(work.size()));
      to_rows(a.data(), s.rows, s.cols, c.results[0].as<T>() + b * s.size());
    };
  });
}

template <class T>
void orgqr(const LapackCall& c) {
  c.expect_counts(2, 1);
  const Stack s(c, c.operands[0]);
  const int k = c.operands[1].rank() > 0 ? static_cast<int>(c.operands[1].dims.back()) : 0;
  c.expect(c.operands[0], kDType<T>, s.with({s.rows, s.cols}), "operand 0");
  c.expect(c.operands[1], kDType<T>, s.with({k}), "operand 1");
  c.expect(c.results[0], kDType<T>, c.operands[0].dims, "result 0");
  if (k > s.cols || s.cols > s.rows)
    c.fail("needs as many reflectors as columns at most, and as many columns as rows");
  void* const f = routine<T>("orgqr", "ungqr");
  const int lda = at_least_one(s.rows), query = -1;
  int info = 0;
  T size = 0;
  call(f, &s.rows, &s.cols, &k, &size, &lda, &size, &size, &query, &info);
  const int lwork = queried(size);
  for_each_matrix(s, [&] {
    return [&, a = std::vector<T>(s.size()), work = std::vector<T>(lwork)](int64_t b) mutable {
      int status = 0;
      to_columns(c.operands[0].as<T>() + b * s.size(), s.rows, s.cols, a.data());
      call(f, &s.rows, &s.cols, &k, a.data(), &lda, c.operands[1].as<T>() + b * k, work.data(), &lwork,
           &status);
      to_rows(a.data(), s.rows, s.cols, c.results[0].as<T>() + b * s.size());
    };
  });
}

template <class T>
void ormqr(const LapackCall& c) {
  c.expect_counts(3, 1);
  const Stack reflectors(c, c.operands[0]), s(c, c.operands[2]);
  const int k = c.operands[1].rank() > 0 ? static_cast<int>(c.operands[1].dims.back()) : 0;
  const bool left = c.attribute("left") != 0, transpose = c.attribute("transpose") != 0;
  const char side = left ? 'L' : 'R', trans = !transpose ? 'N' : kIsComplex<T> ? 'C' : 'T';
  const int height = left ? s.rows : s.cols;
  c.expect(c.operands[0], kDType<T>, s.with({height, reflectors.cols}), "operand 0");
  c.expect(c.operands[1], kDType<T>, s.with({k}), "operand 1");
  c.expect(c.operands[2], kDType<T>, s.with({s.rows, s.cols}), "operand 2");
  c.expect(c.results[0], kDType<T>, c.operands[2].dims, "result 0");
  if (k > reflectors.cols || k > height) c.fail("has more reflectors than columns");
  void* const f = routine<T>("ormqr", "unmqr");
  const int lda = at_least_one(height), ldc = at_least_one(s.rows), query = -1;
  int info = 0;
  T size = 0;
  call(f, &side, &trans, &s.rows, &s.cols, &k, &size, &lda, &size, &size, &ldc, &size, &query, &info, kOne,
       kOne);
  const int lwork = queried(size);
  for_each_matrix(s, [&] {
    return [&, a = std::vector<T>(reflectors.size()), x = std::vector<T>(s.size()),
            work = std::vector<T>(lwork)](int64_t b) mutable {
      int status = 0;
      to_columns(c.operands[0].as<T>() + b * reflectors.size(), height, reflectors.cols, a.data());
      to_columns(c.operands[2].as<T>() + b * s.size(), s.rows, s.cols, x.data());
      call(f, &side, &trans, &s.rows, &s.cols, &k, a.data(), &lda, c.operands[1].as<T>() + b * k, x.data(),
           &ldc, work.data(), &lwork, &status, kOne, kOne);
      to_rows(x.data(), s.rows, s.cols, c.results[0].as<T>() + b * s.size());
    };
  });
}

template <class T>
void trsm(const LapackCall& c) {
  c.expect_counts(2, 1);
  const Stack s(c, c.operands[1]);
  const char trans = c.letter("trans_x");
  using Solve = TriangularSolve;
  const Solve how{c.letter("side") == 'L', c.letter("uplo") == 'L', c.letter("diag") == 'U',
                  trans == 'N'   ? Solve::kNone
                  : trans == 'T' ? Solve::kTranspose
                                 : Solve::kAdjoint};
  const int n = how.left_side ? s.rows : s.cols;
  c.expect(c.operands[0], kDType<T>, s.with({n, n}), "operand 0");
  c.expect(c.operands[1], kDType<T>, s.with({s.rows, s.cols}), "operand 1");
  c.expect(c.results[0], kDType<T>, c.operands[1].dims, "result 0");
  triangular_solve(c.operands[0], c.operands[1], how, c.results[0]);
}

// Diagonals come as vectors of n; the lower one begins with an unused element, the upper one ends with one.
template <class T>
void gtsv(const LapackCall& c) {
  c.expect_counts(4, 5);
  const Stack s(c, c.operands[3]);
  for (int i = 0; i < 4; ++i) {
    c.expect(c.operands[i], kDType<T>, i < 3 ? s.with({s.rows}) : s.with({s.rows, s.cols}), "an operand");
    c.expect(c.results[i], kDType<T>, c.operands[i].dims, "a result");
  }
  c.expect(c.results[4], DType::kS32, s.batch, "result 4");
  void* const f = routine<T>("gtsv");
  for_each_matrix(s, [&] {
    return [&, x = std::vector<T>(s.size())](int64_t b) mutable {
      const int n = s.rows, ldb = at_least_one(n);
      T* d[3];
      for (int i = 0; i < 3; ++i) {
        d[i] = c.results[i].as<T>() + b * n;
        if (d[i] != c.operands[i].as<T>() + b * n) std::copy_n(c.operands[i].as<T>() + b * n, n, d[i]);
      }
      to_columns(c.operands[3].as<T>() + b * s.size(), n, s.cols, x.data());
      call(f, &n, &s.cols, d[0] + (n > 0), d[1], d[2], x.data(), &ldb, c.results[4].as<int>() + b);
      to_rows(x.data(), n, s.cols, c.results[3].as<T>() + b * s.size());
    };
  });
}

template <class T>
void gehrd(const LapackCall& c) {
  c.expect_counts(1, 3);
  const Stack s(c, c.operands[0]);
  const int n = s.rows, reflectors = std::max(0, n - 1);
  c.expect(c.operands[0], kDType<T>, s.with({n, n}), "operand 0");
  c.expect(c.results[0], kDType<T>, c.operands[0].dims, "result 0");
  c.expect(c.results[1], kDType<T>, s.with({reflectors}), "result 1");
  c.expect(c.results[2], DType::kS32, s.batch, "result 2");
  const int low = static_cast<int>(c.attribute("low")), high = static_cast<int>(c.attribute("high"));
  if (n > 0 && (low < 1 || low > high || high > n))
    c.fail(fmt::format("rows {} to {} of {} cannot be reduced", low, high, n));
  void* const f = routine<T>("gehrd");
  const int lda = at_least_one(n), query = -1;
  int info = 0;
  T size = 0;
  if (n > 0) call(f, &n, &low, &high, &size, &lda, &size, &size, &query, &info);
  const int lwork = queried(size);
  for_each_matrix(s, [&] {
    return [&, a = std::vector<T>(s.size()), work = std::vector<T>(lwork)](int64_t b) mutable {
      if (n == 0) return void(c.results[2].as<int>()[b] = 0);
      to_columns(c.operands[0].as<T>() + b * s.size(), n, n, a.data());
      call(f, &n, &low, &high, a.data(), &lda, c.results[1].as<T>() + b * reflectors, work.data(), &lwork,
           c.results[2].as<int>() + b);
      to_rows(a.data(), n, n, c.results[0].as<T>() + b * s.size());
    };
  });
}

template <class T>
void sytrd(const LapackCall& c) {
  c.expect_counts(1, 5);
  const Stack s(c, c.operands[0]);
  const int n = s.rows, below = std::max(0, n - 1);
  constexpr DType kReal = dtype_of_value<RealOf<T>>();
  c.expect(c.operands[0], kDType<T>, s.with({n, n}), "operand 0");
  c.expect(c.results[0], kDType<T>, c.operands[0].dims, "result 0");
  c.expect(c.results[1], kReal, s.with({n}), "result 1");
  c.expect(c.results[2], kReal, s.with({below}), "result 2");
  c.expect(c.results[3], kDType<T>, s.with({below}), "result 3");
  c.expect(c.results[4], DType::kS32, s.batch, "result 4");
  const char uplo = c.letter("uplo");
  void* const f = routine<T>("sytrd", "hetrd");
  const int lda = at_least_one(n), query = -1;
  int info = 0;
  T size = 0;
  RealOf<T> real = 0;
  call(f, &uplo, &n, &size, &lda, &real, &real, &size, &size, &query, &info, kOne);
  const int lwork = queried(size);
  for_each_matrix(s, [&] {
    return [&, a = std::vector<T>(s.size()), work = std::vector<T>(lwork)](int64_t b) mutable {
      to_columns(c.operands[0].as<T>() + b * s.size(), n, n, a.data());
      call(f, &uplo, &n, a.data(), &lda, c.results[1].as<RealOf<T>>() + b * n,
           c.results[2].as<RealOf<T>>() + b * below, c.results[3].as<T>() + b * below, work.data(), &lwork,
           c.results[4].as<int>() + b, kOne);
      to_rows(a.data(), n, n, c.results[0].as<T>() + b * s.size());
    };
  });
}

using F = float;
using D = double;
using CF = std::complex<float>;
using CD = std::complex<double>;

constexpr LapackRow kRows[] = {
    {"potrf", {potrf<F>, potrf<D>, potrf<CF>, potrf<CD>}, false},
    {"getrf", {getrf<F>, getrf<D>, getrf<CF>, getrf<CD>}},
    {"geqrf", {geqrf<F>, geqrf<D>, geqrf<CF>, geqrf<CD>}},
    {"geqp3", {geqp3<F>, geqp3<D>, geqp3<CF>, geqp3<CD>}},
    {"orgqr", {orgqr<F>, orgqr<D>, nullptr, nullptr}},
    {"ungqr", {nullptr, nullptr, orgqr<CF>, orgqr<CD>}},
    {"ormqr", {ormqr<F>, ormqr<D>, nullptr, nullptr}},
    {"unmqr", {nullptr, nullptr, ormqr<CF>, ormqr<CD>}},
    {"trsm", {trsm<F>, trsm<D>, trsm<CF>, trsm<CD>}, false},
    {"gtsv", {gtsv<F>, gtsv<D>, gtsv<CF>, gtsv<CD>}},
    {"gehrd", {gehrd<F>, gehrd<D>, gehrd<CF>, gehrd<CD>}},
    {"sytrd", {sytrd<F>, sytrd<D>, nullptr, nullptr}},
    {"hetrd", {nullptr, nullptr, sytrd<CF>, sytrd<CD>}},
};

}  // namespace

std::span<const LapackRow> lapack_factorizations() { return kRows; }

}  // namespace armillary::native
