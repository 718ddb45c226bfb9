// Formulas of math functions written as they are read: values with operators, over a TapeBuilder.
#pragma once

#include <initializer_list>

#include "xla_core/ops/tape.h"

namespace armillary::kernels {

struct MathValue {
  TapeBuilder* b = nullptr;
  Val v;

  MathValue of(double constant) const { return {b, b->constant(v.dtype, constant)}; }
  MathValue of_int(int64_t constant) const { return {b, b->constant_int(v.dtype, constant)}; }
  MathValue to(DType dtype) const { return {b, b->convert(v, dtype)}; }
  MathValue as(DType dtype) const { return {b, b->bitcast(v, dtype)}; }  // the same bits
};
using X = MathValue;

inline X operator+(X x, X y) { return {x.b, x.b->add(x.v, y.v)}; }
inline X operator-(X x, X y) { return {x.b, x.b->sub(x.v, y.v)}; }
inline X operator*(X x, X y) { return {x.b, x.b->mul(x.v, y.v)}; }
inline X operator/(X x, X y) { return {x.b, x.b->div(x.v, y.v)}; }
inline X operator+(X x, double c) { return x + x.of(c); }
inline X operator-(X x, double c) { return x - x.of(c); }
inline X operator*(X x, double c) { return x * x.of(c); }
inline X operator+(double c, X x) { return x.of(c) + x; }
inline X operator-(double c, X x) { return x.of(c) - x; }
inline X operator*(double c, X x) { return x.of(c) * x; }
inline X operator/(double c, X x) { return x.of(c) / x; }
inline X operator-(X x) { return {x.b, x.b->neg(x.v)}; }

// Predicates.
inline X operator<(X x, X y) { return {x.b, x.b->compare(Prim::kLt, x.v, y.v)}; }
inline X operator>(X x, X y) { return {x.b, x.b->compare(Prim::kGt, x.v, y.v)}; }
inline X operator==(X x, X y) { return {x.b, x.b->compare(Prim::kEq, x.v, y.v)}; }
inline X operator!=(X x, X y) { return {x.b, x.b->compare(Prim::kNe, x.v, y.v)}; }
inline X operator<(X x, double c) { return x < x.of(c); }
inline X operator>(X x, double c) { return x > x.of(c); }
inline X operator==(X x, double c) { return x == x.of(c); }
inline X operator&(X x, X y) { return {x.b, x.b->bit_and(x.v, y.v)}; }
inline X operator|(X x, X y) { return {x.b, x.b->bit_or(x.v, y.v)}; }
inline X operator!(X x) { return {x.b, x.b->bit_not(x.v)}; }
inline X select(X pred, X on_true, X on_false) {
  return {pred.b, pred.b->select(pred.v, on_true.v, on_false.v)};
}
inline X is_nan(X x) { return x != x; }

// Integers.
inline X shift_left(X x, int64_t n) { return {x.b, x.b->shl(x.v, x.of_int(n).v)}; }
inline X shift_right(X x, int64_t n) { return {x.b, x.b->shr_arith(x.v, x.of_int(n).v)}; }

inline X fma(X x, X y, X z) { return {x.b, x.b->fma(x.v, y.v, z.v)}; }
inline X fma(X x, double y, X z) { return fma(x, x.of(y), z); }
inline X fma(X x, X y, double z) { return fma(x, y, x.of(z)); }
inline X fma(X x, double y, double z) { return fma(x, x.of(y), x.of(z)); }
inline X abs(X x) { return {x.b, x.b->abs(x.v)}; }
inline X sqrt(X x) { return {x.b, x.b->sqrt(x.v)}; }
inline X trunc(X x) { return {x.b, x.b->trunc(x.v)}; }

// c[0] + c[1] x + c[2] x^2 + ...
inline X polynomial(X x, std::initializer_list<double> c) {
  const double* k = c.end() - 1;
  X sum = x.of(*k);
  while (k != c.begin()) sum = fma(sum, x, *--k);
  return sum;
}

// `magnitude`, which has no sign, with the sign of `from`; both f32.
inline X with_sign(X magnitude, X from) {
  const X sign = from.as(DType::kU32);
  return (magnitude.as(DType::kU32) | (sign & sign.of_int(0x80000000))).as(DType::kF32);
}

}  // namespace armillary::kernels
