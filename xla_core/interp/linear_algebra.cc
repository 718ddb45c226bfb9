// The linear algebra ops of HLO itself: cholesky and triangular-solve.
#include <limits>

#include "xla_core/interp/evaluation.h"
#include "xla_core/interp/matrix.h"

namespace armillary {
namespace {

// fn(double()) or fn(Complex()).
template <class Fn>
void with_field(DType dtype, Fn&& fn) {
  if (is_complex(dtype))
    fn(Complex());
  else
    fn(double());
}

// A matrix that is not positive definite gives NaN, the others are not affected.
Literal cholesky(Evaluation&, const Instruction& i, Operands operands) {
  Literal result(i.shape());
  with_field(i.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t m = 0; m < MatrixStack(i.shape()).count; ++m) {
      Matrix<T> a = read_matrix<T>(operands[0], m);
      if (factor_cholesky(a, i.attrs().flag(Attr::lower)) != 0)
        std::fill(a.values().begin(), a.values().end(), T(std::numeric_limits<double>::quiet_NaN()));
      write_matrix(result, m, a);
    }
  });
  return result;
}

Literal triangular_solve(Evaluation&, const Instruction& i, Operands operands) {
  const std::string mode = i.attrs().text(Attr::transpose_a, "NO_TRANSPOSE");
  const Triangle triangle{i.attrs().flag(Attr::lower), i.attrs().flag(Attr::unit_diagonal),
                          mode == "TRANSPOSE" ? Transposition::kTranspose
                          : mode == "ADJOINT" ? Transposition::kAdjoint
                                              : Transposition::kNone};
  Literal result(i.shape());
  with_field(i.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t m = 0; m < MatrixStack(i.shape()).count; ++m) {
      Matrix<T> b = read_matrix<T>(operands[1], m);
      solve_triangular(read_matrix<T>(operands[0], m), b, i.attrs().flag(Attr::left_side), triangle);
      write_matrix(result, m, b);
    }
  });
  return result;
}

}  // namespace

std::span<const HandlerRow> linear_algebra_handlers() {
  static constexpr HandlerRow rows[] = {{Op::cholesky, cholesky}, {Op::triangular_solve, triangular_solve}};
  return rows;
}

}  // namespace armillary
