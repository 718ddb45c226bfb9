// Polynomials were fitted with mpmath (iteratively reweighted least squares on Chebyshev points), see
// tools/fit_math.py.
#include "xla_core/kernels/math_wide.h"

#include <numbers>

namespace armillary::kernels {
namespace {

constexpr double kRounder = 0x1.8p52;  // adding it rounds to an integer, which then is in the low bits
constexpr double kLn2High = 0x1.62e42fefa38p-1, kLn2Low = 0x1.ef35793c7673p-45;
constexpr int64_t kSqrtHalfBits = 0x3fe6a09e667f3bcd;
constexpr int64_t kRounderBits = 0x4338000000000000;

}  // namespace

X exp_wide(X x) {
  const X t = fma(x, std::numbers::log2e, kRounder);
  const X n = t - kRounder;
  X r = fma(n, -kLn2High, x);
  r = fma(n, -kLn2Low, r);
  const X p = polynomial(r, {0.50000000000000022, 0.16666666666648003, 0.041666666666595902,
                             0.0083333333539648401, 0.001388888892897149, 0.00019841208263636078,
                             2.480150562345502e-05, 2.7625375068013132e-06, 2.7626616742962564e-07});
  const X y = fma(r * r, p, r) + 1.0;
  return (y.as(DType::kS64) + shift_left(t.as(DType::kS64), 52)).as(DType::kF64);
}

X log_wide(X x) {
  const X bits = x.as(DType::kS64);
  const X e = shift_right(bits - bits.of_int(kSqrtHalfBits), 52);
  const X f = (bits - shift_left(e, 52)).as(DType::kF64) - 1.0;
  const X exponent = (e + e.of_int(kRounderBits)).as(DType::kF64) - kRounder;
  const X s = f / (f + 2.0), z = s * s;
  const X p = polynomial(z, {0.66666666666661423, 0.40000000012515641, 0.28571423732357132,
                             0.22222905570356088, 0.18138335332173194, 0.16649436700085687});
  const X l = s * fma(z, p, 2.0);
  return fma(exponent, kLn2High, fma(exponent, kLn2Low, l));
}

X log1p_wide(X x) {
  const X u = 1.0 + x;
  return log_wide(u) + (x - (u - 1.0)) / u;
}

X atan_wide(X x) {
  constexpr double kTan3Pi8 = 2.414213562373095, kTanPi8 = 0.4142135623730950;
  const X big = x > kTan3Pi8, mid = x > kTanPi8;
  const X above = select(big, x.of(-1), select(mid, x - 1.0, x));
  const X below = select(big, x, select(mid, x + 1.0, x.of(1)));
  const X base = select(big, x.of(std::numbers::pi / 2), select(mid, x.of(std::numbers::pi / 4), x.of(0)));
  const X v = above / below, z = v * v;
  const X p = polynomial(
      z, {-0.33333333331660858, 0.19999999680188896, -0.14285693321002668, 0.11110443383523935,
          -0.090790529264884512, 0.075679430141393195, -0.058888773908442285, 0.03086243472564304});
  return base + v * fma(z, p, 1.0);
}

X sin_wide(X r) {
  const X z = r * r;
  const X p = polynomial(z, {-0.16666666666630309, 0.0083333333250705088, -0.00019841263724681011,
                             2.7555338814831134e-06, -2.4760393253843933e-08});
  return r * fma(z, p, 1.0);
}

X cos_wide(X r) {
  const X z = r * r;
  const X p = polynomial(z, {0.041666666666596457, -0.0013888888877601271, 2.4801580702810584e-05,
                             -2.7555522305274823e-07, 2.0645067759847583e-09});
  return fma(z * z, p, fma(z, -0.5, 1.0));
}

// Cody and Waite's reduction with fma: pi/2 as a sum of two doubles is enough up to kReducible.
Reduced reduce_angle(X x) {
  const X wide = x.to(DType::kF64);
  const X t = fma(wide, 2 / std::numbers::pi, kRounder);
  const X n = t - kRounder;
  X r = fma(n, -0x1.921fb54442d18p+0, wide);
  r = fma(n, -0x1.1a62633145c07p-54, r);
  return {r, t.as(DType::kS64)};
}

}  // namespace armillary::kernels
