// Formulas over one real dtype read like formulas: operators on values of a tape.
#pragma once

#include <limits>

#include "xla_core/ops/tape.h"

namespace armillary {

struct Real {
  TapeBuilder* b;
  Val v;
};
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline Real literal(Real like, double value) { return {like.b, like.b->constant(like.v.dtype, value)}; }

inline Real operator+(Real x, Real y) { return {x.b, x.b->add(x.v, y.v)}; }
inline Real operator-(Real x, Real y) { return {x.b, x.b->sub(x.v, y.v)}; }
inline Real operator*(Real x, Real y) { return {x.b, x.b->mul(x.v, y.v)}; }
inline Real operator/(Real x, Real y) { return {x.b, x.b->div(x.v, y.v)}; }
inline Real operator+(Real x, double y) { return x + literal(x, y); }
inline Real operator-(Real x, double y) { return x - literal(x, y); }
inline Real operator*(Real x, double y) { return x * literal(x, y); }
inline Real operator/(Real x, double y) { return x / literal(x, y); }
inline Real operator+(double x, Real y) { return literal(y, x) + y; }
inline Real operator-(double x, Real y) { return literal(y, x) - y; }
inline Real operator*(double x, Real y) { return literal(y, x) * y; }
inline Real operator/(double x, Real y) { return literal(y, x) / y; }
inline Real operator-(Real x) { return {x.b, x.b->neg(x.v)}; }

// Truth values.
struct Truth {
  TapeBuilder* b;
  Val v;
};
inline Truth operator<(Real x, Real y) { return {x.b, x.b->compare(Prim::kLt, x.v, y.v)}; }
inline Truth operator>(Real x, Real y) { return {x.b, x.b->compare(Prim::kGt, x.v, y.v)}; }
inline Truth operator>=(Real x, Real y) { return {x.b, x.b->compare(Prim::kGe, x.v, y.v)}; }
inline Truth operator==(Real x, Real y) { return {x.b, x.b->compare(Prim::kEq, x.v, y.v)}; }
inline Truth operator!=(Real x, Real y) { return {x.b, x.b->compare(Prim::kNe, x.v, y.v)}; }
inline Truth operator<(Real x, double y) { return x < literal(x, y); }
inline Truth operator>(Real x, double y) { return x > literal(x, y); }
inline Truth operator>=(Real x, double y) { return x >= literal(x, y); }
inline Truth operator==(Real x, double y) { return x == literal(x, y); }
inline Truth operator&(Truth p, Truth q) { return {p.b, p.b->bit_and(p.v, q.v)}; }
inline Truth operator|(Truth p, Truth q) { return {p.b, p.b->bit_or(p.v, q.v)}; }
inline Truth operator!(Truth p) { return {p.b, p.b->bit_not(p.v)}; }

inline Real pick(Truth p, Real x, Real y) { return {x.b, x.b->select(p.v, x.v, y.v)}; }
inline Real pick(Truth p, Real x, double y) { return pick(p, x, literal(x, y)); }
inline Real pick(Truth p, double x, Real y) { return pick(p, literal(y, x), y); }

inline Real abs(Real x) { return {x.b, x.b->abs(x.v)}; }
inline Real max(Real x, Real y) { return {x.b, x.b->max(x.v, y.v)}; }
inline Real min(Real x, Real y) { return {x.b, x.b->min(x.v, y.v)}; }
inline Real fma(Real x, Real y, Real z) { return {x.b, x.b->fma(x.v, y.v, z.v)}; }
inline Real sqrt(Real x) { return {x.b, x.b->sqrt(x.v)}; }
inline Real cbrt(Real x) { return {x.b, x.b->cbrt(x.v)}; }
inline Real exp(Real x) { return {x.b, x.b->exp(x.v)}; }
inline Real expm1(Real x) { return {x.b, x.b->expm1(x.v)}; }
inline Real log(Real x) { return {x.b, x.b->log(x.v)}; }
inline Real log1p(Real x) { return {x.b, x.b->log1p(x.v)}; }
inline Real sin(Real x) { return {x.b, x.b->sin(x.v)}; }
inline Real cos(Real x) { return {x.b, x.b->cos(x.v)}; }
inline Real tan(Real x) { return {x.b, x.b->tan(x.v)}; }
inline Real sinh(Real x) { return {x.b, x.b->sinh(x.v)}; }
inline Real cosh(Real x) { return {x.b, x.b->cosh(x.v)}; }
inline Real asinh(Real x) { return {x.b, x.b->asinh(x.v)}; }
inline Real pow(Real x, Real y) { return {x.b, x.b->pow(x.v, y.v)}; }
inline Real atan2(Real y, Real x) { return {x.b, x.b->atan2(y.v, x.v)}; }
inline Truth is_finite(Real x) { return {x.b, x.b->is_finite(x.v)}; }

// The magnitude of x (assumed not negative) with the sign of y, zeros' signs included. f64 only.
inline Real copysign(Real x, Real y) {
  TapeBuilder& b = *x.b;
  const Val sign = b.bit_and(b.bitcast(y.v, DType::kU64),
                             b.constant_int(DType::kU64, std::numeric_limits<int64_t>::min()));
  return {x.b, b.bitcast(b.bit_or(b.bitcast(x.v, DType::kU64), sign), DType::kF64)};
}
inline Real copysign(double x, Real y) { return copysign(literal(y, x), y); }

// An unevaluated sum: the rounded value and what the rounding lost.
struct Exact {
  Real value, error;
};
inline Exact exact_sum(Real x, Real y) {  // Knuth's TwoSum
  const Real sum = x + y, y_seen = sum - x;
  return {sum, (x - (sum - y_seen)) + (y - y_seen)};
}
inline Exact exact_product(Real x, Real y) {
  const Real product = x * y;
  return {product, fma(x, y, -product)};
}

// A complex number in f64 parts, and whether they came from f32, so that squares neither overflow nor vanish.
struct Parts {
  Real re, im;
  bool roomy;
  Parts with(Real new_re, Real new_im) const { return {new_re, new_im, roomy}; }
};
Parts parts_of(TapeBuilder& b, Val x);
Val from_parts(Parts z, DType dtype);

// Building blocks that several functions share.
Real modulus(Parts z);      // |z| without overflow, within about 1 ulp
Real log_modulus(Parts z);  // log |z| without cancellation near |z| = 1
Parts square_root(Parts z);
Parts times_i(Parts z);  // i z
Parts over_i(Parts z);   // -i z

}  // namespace armillary
