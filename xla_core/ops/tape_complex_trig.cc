// Complex trigonometric and hyperbolic functions and their inverses, after W. Kahan, "Branch cuts for complex
// elementary functions" (1987).
#include <numbers>

#include "xla_core/ops/real_expr.h"
#include "xla_core/ops/tape_complex.h"

namespace armillary {
namespace {

// A product that is 0 when its first factor is, even if the other overflows.
Real product_with_zero(Real zero_or_not, Real other) {
  return pick(zero_or_not == 0.0, zero_or_not * copysign(1.0, other), zero_or_not * other);
}

// cosh y and sinh y times e, kept apart from e so that a small partner can bring the product back into range.
struct Hyperbolic {
  Real cosh, sinh, rest;
};
Hyperbolic hyperbolic(Real y, bool roomy) {
  if (roomy) return {cosh(y), sinh(y), literal(y, 1)};
  const Real size = abs(y), capped = min(size, literal(y, 709));
  return {cosh(capped), copysign(sinh(capped), y), exp(size - capped)};
}

Parts sine(Parts z) {
  const Hyperbolic h = hyperbolic(z.im, z.roomy);
  const Real re = product_with_zero(sin(z.re), h.cosh), im = product_with_zero(h.sinh, cos(z.re));
  return z.with(product_with_zero(re, h.rest), product_with_zero(im, h.rest));
}

Parts cosine(Parts z) {
  const Hyperbolic h = hyperbolic(z.im, z.roomy);
  const Real re = h.cosh * cos(z.re), im = -product_with_zero(sin(z.re), h.sinh);
  return z.with(re * h.rest, product_with_zero(im, h.rest));
}

// With t = tan y and s = sinh x: ((1 + t^2) cosh x s, t) / (1 + (1 + t^2) s^2); far out the real part is +-1,
// if y is finite or x is not. Real numbers stay real, NaN too.
Parts hyperbolic_tangent(Parts z) {
  const Real t = tan(z.im), s = sinh(z.re), beta = 1.0 + t * t;
  const Real below = 1.0 + beta * s * s;
  const Truth infinite = abs(z.re) == kInfinity, far = infinite | ((abs(z.re) > 22.0) & is_finite(z.im));
  const Real far_im = 4.0 * sin(z.im) * cos(z.im) * exp(-2.0 * abs(z.re));
  const Real re = pick(far, copysign(1.0, z.re), beta * cosh(z.re) * s / below);
  const Real im = pick(far, pick(infinite, copysign(0.0, z.im), far_im), t / below);
  return z.with(re, pick(z.im == 0.0, z.im, im));
}

// Square roots of 1 - z and 1 + z: products of their parts give asin and acos without cancellation.
struct Roots {
  Parts minus, plus;
};
Roots roots_of(Parts z) {
  return {square_root(z.with(1.0 - z.re, -z.im)), square_root(z.with(1.0 + z.re, z.im))};
}

Parts arc_sine(Parts z) {
  const Roots r = roots_of(z);
  const Real re = atan2(z.re, r.minus.re * r.plus.re - r.minus.im * r.plus.im);
  return z.with(re, asinh(r.minus.re * r.plus.im - r.minus.im * r.plus.re));
}

Parts arc_cosine(Parts z) {
  const Roots r = roots_of(z);
  return z.with(2.0 * atan2(r.minus.re, r.plus.re), asinh(r.plus.re * r.minus.im - r.plus.im * r.minus.re));
}

// Re: log1p(4 |x| / ((1 - |x|)^2 + y^2)) / 4. Far out: x / |z|^2, and half a turn of the imaginary part.
Parts hyperbolic_arc_tangent(Parts z) {
  const Real x = abs(z.re), gap = 1.0 - x;
  const Real near_re = 0.25 * log1p(4.0 * x / fma(gap, gap, z.im * z.im));
  const Real near_im = 0.5 * atan2(2.0 * z.im, gap * (1.0 + x) - z.im * z.im);
  const Real size = modulus(z);
  const Truth far = size > 1e150;
  const Real far_re = pick(size == kInfinity, 0.0, x / size / size);
  return z.with(copysign(pick(far, far_re, near_re), z.re),
                pick(far, copysign(std::numbers::pi / 2, z.im), near_im));
}

}  // namespace

Val complex_sin(TapeBuilder& b, Val x) { return from_parts(sine(parts_of(b, x)), x.dtype); }
Val complex_cos(TapeBuilder& b, Val x) { return from_parts(cosine(parts_of(b, x)), x.dtype); }
Val complex_sinh(TapeBuilder& b, Val x) { return from_parts(over_i(sine(times_i(parts_of(b, x)))), x.dtype); }
Val complex_cosh(TapeBuilder& b, Val x) { return from_parts(cosine(times_i(parts_of(b, x))), x.dtype); }
Val complex_tanh(TapeBuilder& b, Val x) { return from_parts(hyperbolic_tangent(parts_of(b, x)), x.dtype); }
Val complex_tan(TapeBuilder& b, Val x) {
  return from_parts(over_i(hyperbolic_tangent(times_i(parts_of(b, x)))), x.dtype);
}
Val complex_asin(TapeBuilder& b, Val x) { return from_parts(arc_sine(parts_of(b, x)), x.dtype); }
Val complex_acos(TapeBuilder& b, Val x) { return from_parts(arc_cosine(parts_of(b, x)), x.dtype); }
Val complex_asinh(TapeBuilder& b, Val x) {
  return from_parts(over_i(arc_sine(times_i(parts_of(b, x)))), x.dtype);
}
Val complex_atanh(TapeBuilder& b, Val x) {
  return from_parts(hyperbolic_arc_tangent(parts_of(b, x)), x.dtype);
}
Val complex_atan(TapeBuilder& b, Val x) {
  return from_parts(over_i(hyperbolic_arc_tangent(times_i(parts_of(b, x)))), x.dtype);
}

Val complex_acosh(TapeBuilder& b, Val x) {
  const Parts z = parts_of(b, x), p = square_root(z.with(z.re - 1.0, z.im)),
              q = square_root(z.with(z.re + 1.0, z.im));
  return from_parts(z.with(asinh(p.re * q.re + p.im * q.im), 2.0 * atan2(p.im, q.re)), x.dtype);
}

}  // namespace armillary
