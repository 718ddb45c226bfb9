// What the LAPACK handlers share: finding routines, moving matrices between row- and column-major, checking
// shapes.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "xla_core/backends/cpu/native/array_ref.h"
#include "xla_core/backends/cpu/native/matrix_view.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {

// One custom call as a handler sees it.
struct LapackCall {
  std::string_view target;
  std::map<std::string, int64_t, std::less<>> attributes;
  std::span<const ArrayRef> operands, results;

  int64_t attribute(std::string_view name) const;  // user error when missing
  int64_t attribute(std::string_view name, int64_t fallback) const;
  char letter(std::string_view name) const { return static_cast<char>(attribute(name)); }
  void expect_counts(size_t operand_count, size_t result_count) const;
  void expect(const ArrayRef& array, DType dtype, const Dims& dims, std::string_view what) const;
  void fail(const std::string& message) const;  // user error that names the target
};

// {uplo = 76 : ui8, left = true} as numbers.
std::map<std::string, int64_t, std::less<>> parse_attributes(std::string_view text);

struct LapackRow {
  std::string_view routine;                // as in the target: "potrf" of lapack_spotrf_ffi
  void (*handlers[4])(const LapackCall&);  // f32, f64, c64, c128; nullptr where there is none
  bool needs_library = true;
};
std::span<const LapackRow> lapack_factorizations();
std::span<const LapackRow> lapack_decompositions();

template <class T>
using RealOf = decltype(std::real(T()));
template <class T>
constexpr bool kIsComplex = !std::is_same_v<T, RealOf<T>>;

// The routine of LAPACK for this type: "potrf" gives spotrf_, dpotrf_, ...; real and complex names
// may differ. Never nullptr: run_custom_call has seen that a library is loaded; a missing routine is a
// resource error.
void* lapack_symbol(char prefix, std::string_view name);
template <class T>
void* routine(std::string_view real_name, std::string_view complex_name = {}) {
  constexpr char prefix = std::is_same_v<T, float>                 ? 's'
                          : std::is_same_v<T, double>              ? 'd'
                          : std::is_same_v<T, std::complex<float>> ? 'c'
                                                                   : 'z';
  return lapack_symbol(prefix, kIsComplex<T> && !complex_name.empty() ? complex_name : real_name);
}

// Fortran's calling convention: everything by address; the lengths of strings come last, by value.
template <class... Args>
void call(void* routine, Args... args) {
  reinterpret_cast<void (*)(Args...)>(routine)(args...);
}
inline constexpr size_t kOne = 1;  // the length of a one-letter string

// Shapes [batch..., rows, cols].
struct Stack {
  Dims batch;
  int64_t count = 1;
  int rows = 0, cols = 0;

  explicit Stack(const LapackCall& call, const ArrayRef& array);
  int smaller() const { return std::min(rows, cols); }
  int larger() const { return std::max(rows, cols); }
  int64_t size() const { return static_cast<int64_t>(rows) * cols; }
  Dims with(std::initializer_list<int64_t> tail) const {
    Dims d = batch;
    d.insert(d.end(), tail);
    return d;
  }
};

// Runs body(b) for every matrix of a stack; handlers are made per range of matrices, with their own
// workspace.
template <class MakeBody>
void for_each_matrix(const Stack& s, const MakeBody& make_body) {
  const double work = static_cast<double>(s.size() + 1) * s.larger();
  parallel_for(s.count, std::max<int64_t>(1, static_cast<int64_t>(20000 / (work + 1))),
               [&](int64_t begin, int64_t end) {
                 auto body = make_body();
                 for (int64_t b = begin; b < end; ++b) body(b);
               });
}

// A column-major copy of one row-major matrix, and back.
template <class T>
void to_columns(const T* from, int64_t rows, int64_t cols, T* to) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) to[j * rows + i] = from[i * cols + j];
}
template <class T>
void to_rows(const T* from, int64_t rows, int64_t cols, T* to) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) to[i * cols + j] = from[j * rows + i];
}

template <class T>
bool all_finite(const T* data, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    if (!std::isfinite(std::real(data[i])) || !std::isfinite(std::imag(data[i]))) return false;
  return true;
}

// The first value of a workspace query.
template <class T>
int queried(const T& value) {
  return std::max(1, static_cast<int>(std::real(value)));
}

inline int at_least_one(int n) { return std::max(1, n); }

}  // namespace armillary::native
