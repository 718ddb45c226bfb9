// Eigenvalues, singular values, Schur forms: syevd, gesdd, gesvd, geev, gees. Matrices with infinities or
// NaNs are not tried, since LAPACK may never come back from them: their info is -4, which JAX turns into
// NaNs.
#include "xla_core/backends/cpu/native/lapack.h"

namespace armillary::native {
namespace {

template <class T>
constexpr DType kDType = dtype_of_value<T>();
constexpr int kNotFinite = -4;

void clear(std::span<const ArrayRef> results) {
  for (const ArrayRef& r : results) std::memset(static_cast<void*>(r.data), 0, r.bytes());
}

template <class T>
void syevd(const LapackCall& c) {
  c.expect_counts(1, 3);
  const Stack s(c, c.operands[0]);
  const int n = s.rows;
  using R = RealOf<T>;
  c.expect(c.operands[0], kDType<T>, s.with({n, n}), "operand 0");
  c.expect(c.results[0], kDType<T>, c.operands[0].dims, "result 0");
  c.expect(c.results[1], kDType<R>, s.with({n}), "result 1");
  c.expect(c.results[2], DType::kS32, s.batch, "result 2");
  const char mode = c.letter("mode"), uplo = c.letter("uplo");
  void* const f = routine<T>("syevd", "heevd");
  const int lda = at_least_one(n);
  auto run = [&](T* a, R* w, T* work, int lwork, R* real_work, int real_size, int* int_work, int int_size,
                 int* info) {
    if constexpr (kIsComplex<T>)
      call(f, &mode, &uplo, &n, a, &lda, w, work, &lwork, real_work, &real_size, int_work, &int_size, info,
           kOne, kOne);
    else
      call(f, &mode, &uplo, &n, a, &lda, w, work, &lwork, int_work, &int_size, info, kOne, kOne);
  };
  T size = 0;
  R real_size = 0, none = 0;
  int int_size = 0, info = 0;
  run(&size, &none, &size, -1, &real_size, -1, &int_size, -1, &info);
  for_each_matrix(s, [&] {
    return [&, a = std::vector<T>(s.size()), work = std::vector<T>(queried(size)),
            real_work = std::vector<R>(queried(real_size)),
            int_work = std::vector<int>(at_least_one(int_size))](int64_t b) mutable {
      int* status = c.results[2].as<int>() + b;
      to_columns(c.operands[0].as<T>() + b * s.size(), n, n, a.data());
      *status = kNotFinite;
      if (all_finite(a.data(), s.size()))
        run(a.data(), c.results[1].as<R>() + b * n, work.data(), static_cast<int>(work.size()),
            real_work.data(), static_cast<int>(real_work.size()), int_work.data(),
            static_cast<int>(int_work.size()), status);
      else
        std::fill_n(c.results[1].as<R>() + b * n, n, R(0));
      to_rows(a.data(), n, n, c.results[0].as<T>() + b * s.size());
    };
  });
}

// Shapes of u and v' for the modes A (all), S (as many as there are values), N (unused, but there).
struct Singular {
  Stack s;
  int u_cols, vt_rows;
  char mode;

  explicit Singular(const LapackCall& c) : s(c, c.operands[0]), mode(c.letter("mode")) {
    if (mode != 'A' && mode != 'S' && mode != 'N')
      c.fail(fmt::format("mode {} is none of A, S, N", static_cast<int>(mode)));
    u_cols = mode == 'A' ? s.rows : s.smaller();
    vt_rows = mode == 'A' ? s.cols : s.smaller();
    if (mode == 'N' && c.results.size() == 5 && c.results[2].rank() >= 2 && c.results[3].rank() >= 2) {
      u_cols = static_cast<int>(c.results[2].dims.back());
      vt_rows = static_cast<int>(c.results[3].dims[c.results[3].rank() - 2]);
    }
  }
};

// gesdd (divide and conquer) and gesvd (QR) differ in their arguments only.
template <class T, bool Divide>
void singular_values(const LapackCall& c) {
  if (c.operands.size() != 1) c.expect_counts(1, 5);
  const Singular shape(c);
  const Stack& s = shape.s;
  using R = RealOf<T>;
  c.expect_counts(1, 5);
  c.expect(c.operands[0], kDType<T>, s.with({s.rows, s.cols}), "operand 0");
  c.expect(c.results[0], kDType<T>, c.operands[0].dims, "result 0");
  c.expect(c.results[1], kDType<R>, s.with({s.smaller()}), "result 1");
  c.expect(c.results[2], kDType<T>, s.with({s.rows, shape.u_cols}), "result 2");
  c.expect(c.results[3], kDType<T>, s.with({shape.vt_rows, s.cols}), "result 3");
  c.expect(c.results[4], DType::kS32, s.batch, "result 4");
  if (s.size() == 0 || shape.mode == 'N') clear(c.results.subspan(2));
  if (s.size() == 0) return;
  void* const f = routine<T>(Divide ? "gesdd" : "gesvd");
  const int lda = s.rows, ldu = s.rows, ldvt = at_least_one(shape.vt_rows);
  const int64_t small = s.smaller(), large = s.larger();
  auto run = [&](T* a, R* values, T* u, T* vt, T* work, int lwork, R* real_work, int* int_work, int* info) {
    const char* m = &shape.mode;
    if constexpr (Divide && kIsComplex<T>)
      call(f, m, &s.rows, &s.cols, a, &lda, values, u, &ldu, vt, &ldvt, work, &lwork, real_work, int_work,
           info, kOne);
    else if constexpr (Divide)
      call(f, m, &s.rows, &s.cols, a, &lda, values, u, &ldu, vt, &ldvt, work, &lwork, int_work, info, kOne);
    else if constexpr (kIsComplex<T>)
      call(f, m, m, &s.rows, &s.cols, a, &lda, values, u, &ldu, vt, &ldvt, work, &lwork, real_work, info,
           kOne, kOne);
    else
      call(f, m, m, &s.rows, &s.cols, a, &lda, values, u, &ldu, vt, &ldvt, work, &lwork, info, kOne, kOne);
  };
  T size = 0;
  R none = 0;
  int info = 0, no_ints = 0;
  run(&size, &none, &size, &size, &size, -1, &none, &no_ints, &info);
  // Bounds from the routines' documentation; only complex ones have a real workspace.
  const int64_t real_size = !kIsComplex<T> ? 1
                            : Divide       ? small * std::max(5 * small + 7, 2 * large + 2 * small + 1)
                                           : 5 * small;
  for_each_matrix(s, [&] {
    return
        [&, a = std::vector<T>(s.size()), u = std::vector<T>(int64_t{s.rows} * shape.u_cols),
         vt = std::vector<T>(int64_t{shape.vt_rows} * s.cols), work = std::vector<T>(queried(size)),
         real_work = std::vector<R>(real_size), int_work = std::vector<int>(8 * small)](int64_t b) mutable {
          int* status = c.results[4].as<int>() + b;
          to_columns(c.operands[0].as<T>() + b * s.size(), s.rows, s.cols, a.data());
          *status = kNotFinite;
          if (all_finite(a.data(), s.size()))
            run(a.data(), c.results[1].as<R>() + b * small, u.data(), vt.data(), work.data(),
                static_cast<int>(work.size()), real_work.data(), int_work.data(), status);
          else
            std::fill_n(c.results[1].as<R>() + b * small, small, R(0));
          to_rows(a.data(), s.rows, s.cols, c.results[0].as<T>() + b * s.size());
          if (shape.mode == 'N') return;
          to_rows(u.data(), s.rows, shape.u_cols, c.results[2].as<T>() + b * s.rows * shape.u_cols);
          to_rows(vt.data(), shape.vt_rows, s.cols, c.results[3].as<T>() + b * shape.vt_rows * s.cols);
        };
  });
}

// Eigenvectors of a real matrix: those of a conjugate pair share two columns, real and imaginary part.
template <class R>
void unpack_vectors(int n, const R* imaginary, const R* packed, std::complex<R>* rows) {
  for (int j = 0; j < n;) {
    const bool pair = imaginary[j] != 0 && j + 1 < n;
    for (int i = 0; i < n; ++i) {
      const R re = packed[j * n + i], im = pair ? packed[(j + 1) * n + i] : R(0);
      rows[i * n + j] = {re, im};
      if (pair) rows[i * n + j + 1] = {re, -im};
    }
    j += pair ? 2 : 1;
  }
}

template <class T>
void geev(const LapackCall& c) {
  using R = RealOf<T>;
  using C = std::complex<R>;
  constexpr size_t kValues = kIsComplex<T> ? 1 : 2;  // arrays of eigenvalues
  c.expect_counts(1, kValues + 3);
  const Stack s(c, c.operands[0]);
  const int n = s.rows;
  c.expect(c.operands[0], kDType<T>, s.with({n, n}), "operand 0");
  for (size_t i = 0; i < kValues; ++i) c.expect(c.results[i], kDType<T>, s.with({n}), "an eigenvalue result");
  for (size_t i = kValues; i < kValues + 2; ++i)
    c.expect(c.results[i], kDType<C>, s.with({n, n}), "an eigenvector result");
  c.expect(c.results[kValues + 2], DType::kS32, s.batch, "the last result");
  clear(c.results);
  if (s.size() == 0) return;
  const char left = c.letter("compute_left"), right = c.letter("compute_right");
  void* const f = routine<T>("geev");
  auto run = [&](T* a, T* w, T* w_im, T* vl, T* vr, T* work, int lwork, R* real_work, int* info) {
    if constexpr (kIsComplex<T>)
      call(f, &left, &right, &n, a, &n, w, vl, &n, vr, &n, work, &lwork, real_work, info, kOne, kOne);
    else
      call(f, &left, &right, &n, a, &n, w, w_im, vl, &n, vr, &n, work, &lwork, info, kOne, kOne);
  };
  T size = 0;
  R none = 0;
  int info = 0;
  run(&size, &size, &size, &size, &size, &size, -1, &none, &info);
  for_each_matrix(s, [&] {
    return [&, a = std::vector<T>(s.size()), vl = std::vector<T>(s.size()), vr = std::vector<T>(s.size()),
            work = std::vector<T>(queried(size)), real_work = std::vector<R>(2 * n)](int64_t b) mutable {
      int* status = c.results[kValues + 2].as<int>() + b;
      to_columns(c.operands[0].as<T>() + b * s.size(), n, n, a.data());
      *status = kNotFinite;
      if (!all_finite(a.data(), s.size())) return;
      T* w = c.results[0].as<T>() + b * n;
      T* w_im = c.results[kValues - 1].as<T>() + b * n;
      run(a.data(), w, w_im, vl.data(), vr.data(), work.data(), static_cast<int>(work.size()),
          real_work.data(), status);
      const std::pair<char, const T*> sides[] = {{left, vl.data()}, {right, vr.data()}};
      for (size_t k = 0; k < 2; ++k) {
        if (sides[k].first != 'V') continue;
        C* out = c.results[kValues + k].as<C>() + b * s.size();
        if constexpr (kIsComplex<T>)
          to_rows(sides[k].second, n, n, out);
        else
          unpack_vectors(n, w_im, sides[k].second, out);
      }
    };
  });
}

template <class T>
void gees(const LapackCall& c) {
  using R = RealOf<T>;
  constexpr size_t kValues = kIsComplex<T> ? 1 : 2;
  c.expect_counts(1, kValues + 4);
  const Stack s(c, c.operands[0]);
  const int n = s.rows;
  c.expect(c.operands[0], kDType<T>, s.with({n, n}), "operand 0");
  for (size_t i = 0; i < 2; ++i) c.expect(c.results[i], kDType<T>, s.with({n, n}), "a matrix result");
  for (size_t i = 2; i < 2 + kValues; ++i)
    c.expect(c.results[i], kDType<T>, s.with({n}), "an eigenvalue result");
  for (size_t i = 2 + kValues; i < 4 + kValues; ++i)
    c.expect(c.results[i], DType::kS32, s.batch, "a status result");
  const char mode = c.letter("mode"), sort = c.letter("sort");
  if (sort != 'N') c.fail("sorted Schur forms are not supported");
  clear(c.results.subspan(1));
  if (s.size() == 0) return;
  void* const f = routine<T>("gees");
  auto run = [&](T* a, int* chosen, T* w, T* w_im, T* vs, T* work, int lwork, R* real_work, int* bools,
                 int* info) {
    void* const no_selection = nullptr;
    if constexpr (kIsComplex<T>)
      call(f, &mode, &sort, no_selection, &n, a, &n, chosen, w, vs, &n, work, &lwork, real_work, bools, info,
           kOne, kOne);
    else
      call(f, &mode, &sort, no_selection, &n, a, &n, chosen, w, w_im, vs, &n, work, &lwork, bools, info, kOne,
           kOne);
  };
  T size = 0;
  R none = 0;
  int info = 0, chosen = 0, no_bools = 0;
  run(&size, &chosen, &size, &size, &size, &size, -1, &none, &no_bools, &info);
  for_each_matrix(s, [&] {
    return
        [&, a = std::vector<T>(s.size()), vs = std::vector<T>(s.size()), work = std::vector<T>(queried(size)),
         real_work = std::vector<R>(n), bools = std::vector<int>(n)](int64_t b) mutable {
          int* status = c.results[kValues + 3].as<int>() + b;
          to_columns(c.operands[0].as<T>() + b * s.size(), n, n, a.data());
          *status = kNotFinite;
          if (all_finite(a.data(), s.size()))
            run(a.data(), c.results[kValues + 2].as<int>() + b, c.results[2].as<T>() + b * n,
                c.results[1 + kValues].as<T>() + b * n, vs.data(), work.data(), static_cast<int>(work.size()),
                real_work.data(), bools.data(), status);
          to_rows(a.data(), n, n, c.results[0].as<T>() + b * s.size());
          if (mode == 'V') to_rows(vs.data(), n, n, c.results[1].as<T>() + b * s.size());
        };
  });
}

using F = float;
using D = double;
using CF = std::complex<float>;
using CD = std::complex<double>;

constexpr LapackRow kRows[] = {
    {"syevd", {syevd<F>, syevd<D>, nullptr, nullptr}},
    {"heevd", {nullptr, nullptr, syevd<CF>, syevd<CD>}},
    {"gesdd",
     {singular_values<F, true>, singular_values<D, true>, singular_values<CF, true>,
      singular_values<CD, true>}},
    {"gesvd",
     {singular_values<F, false>, singular_values<D, false>, singular_values<CF, false>,
      singular_values<CD, false>}},
    {"geev", {geev<F>, geev<D>, geev<CF>, geev<CD>}},
    {"gees", {gees<F>, gees<D>, gees<CF>, gees<CD>}},
};

}  // namespace

std::span<const LapackRow> lapack_decompositions() { return kRows; }

}  // namespace armillary::native
