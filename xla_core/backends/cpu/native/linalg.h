// cholesky and triangular-solve of HLO, in blocks so that nearly all the work is matrix multiplication.
#pragma once

#include "xla_core/backends/cpu/native/array_ref.h"

namespace armillary::native {

// Arrays are [batch..., n, n]. Only one triangle of the operand is read; the other one of the result is zero.
// A matrix that is not positive definite gives NaN everywhere. dtypes: floats of 16 to 64 bits and complex.
void cholesky(const ArrayRef& operand, bool lower, const ArrayRef& result);

// As LAPACK's potrf: the other triangle keeps what the operand has there; status[b] is 0, or the 1-based row
// of matrix b at which it turned out not to be positive definite (its result is then arbitrary). f32, f64,
// c64, c128.
void cholesky_factor(const ArrayRef& operand, bool lower, const ArrayRef& result, int32_t* status);

struct TriangularSolve {
  enum Transpose : uint8_t { kNone, kTranspose, kAdjoint };
  bool left_side = true, lower = true, unit_diagonal = false;
  Transpose transpose = kNone;
};

// Solves op(a) x = b or x op(a) = b; result may be b's own memory.
void triangular_solve(const ArrayRef& a, const ArrayRef& b, const TriangularSolve& how,
                      const ArrayRef& result);

}  // namespace armillary::native
