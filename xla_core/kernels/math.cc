#include "xla_core/kernels/math.h"

#include <limits>
#include <numbers>
#include <optional>

#include "xla_core/kernels/math_wide.h"

namespace armillary::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kExpLimit = 160;  // its exp is beyond f32, both ways

X wide(X x) { return x.to(DType::kF64); }
X single(X x) { return x.to(DType::kF32); }
// NaN stays.
X clamp(X x, double low, double high) {
  x = select(x > high, x.of(high), x);
  return select(x < low, x.of(low), x);
}
// Zeros keep their sign.
X unless_zero(X x, X result) { return select(x == 0.0, x, result); }

// 2^n from the low bits of n + 1.5 * 2^23, in two steps so that denormal results round once.
X exp(X x) {
  constexpr double kRounder = 0x1.8p23;
  const X c = clamp(x, -104, 89);
  const X t = fma(c, std::numbers::log2e, kRounder);
  const X n = t - kRounder;
  X r = fma(n, -0x1.62e400p-1, c);
  r = fma(n, -0x1.7f7d1cp-20, r);
  const X p = polynomial(
      r, {0.5, 0.16666576266288757, 0.041666373610496521, 0.0083632953464984894, 0.0013941300567239523});
  const X y = fma(r * r, p, r) + 1.0;
  const X i = t.as(DType::kS32) - t.of(kRounder).as(DType::kS32);
  const X half = shift_right(i, 1), rest = i - half;
  auto power_of_two = [](X k) { return shift_left(k + k.of_int(127), 23).as(DType::kF32); };
  return y * power_of_two(half) * power_of_two(rest);
}

X log(X x) {
  const X tiny = x < 0x1p-126;
  const X bits = select(tiny, x * 0x1p23, x).as(DType::kS32);
  const X e = shift_right(bits - bits.of_int(0x3f3504f3), 23);  // of sqrt(1/2)
  const X f = (bits - shift_left(e, 23)).as(DType::kF32) - 1.0;
  const X k = single(e) - select(tiny, x.of(23), x.of(0));
  const X p = polynomial(f, {0.33333313465118408, -0.25000008940696716, 0.20002134144306183,
                             -0.16668006777763367, 0.14219215512275696, -0.12405143678188324,
                             0.11890393495559692, -0.11679625511169434, 0.067464128136634827});
  const X low = fma(k, -2.12194440e-4, (f * f) * fma(f, p, -0.5));
  const X result =
      select(x > 0.0, fma(k, 0.693359375, low + f), select(x == 0.0, x.of(-kInfinity), x.of(kNan)));
  return select(x < kInfinity, result, x);
}

X tanh(X x) {
  const X a = abs(x), z = a * a;
  const X p = polynomial(z, {-0.33333331346511841, 0.13333176076412201, -0.053942855447530746,
                             0.021678976714611053, -0.0081230765208601952, 0.0020928229205310345});
  const X large = 1.0 - 2.0 / (exp(a + a) + 1.0);
  return with_sign(select(a < 0.64, fma(a * z, p, a), large), x);
}

// Near zero x P(x^2), else 1 - exp(-x P(x)); 1 from 4 on.
X erf(X x) {
  const X a = abs(x), z = a * a;
  const X small =
      polynomial(z, {0.12837916612625122, -0.37612631916999817, 0.11283672600984573, -0.026858104392886162,
                     0.0051977969706058502, -0.00081059610238298774, 8.2154096162412316e-05});
  const X c = select(a > 4.0, a.of(4), a);
  const X q = c * polynomial(c, {1.1284420490264893, 0.63621771335601807, 0.10389070957899094,
                                 -0.02089681476354599, 0.001522403908893466, 0.00064813147764652967,
                                 -0.00025679607642814517, 4.0631744923302904e-05, -2.5774415917112492e-06});
  return with_sign(select(a < 0.9, fma(a, small, a), 1.0 - exp(-q)), x);
}

// The value of a function that only the back end can compute, where |x| is too large for reduce_angle.
X unless_huge(Prim prim, X x, X result) {
  const X huge = abs(x) > kReducible;
  const X call{
      x.b, {x.b->push({.prim = prim, .dtype = DType::kF32, .a = x.v.re, .b = huge.v.re}), -1, DType::kF32}};
  return select(huge, call, result);
}
X bit_set(X quadrant, int64_t bit) { return (quadrant & quadrant.of_int(bit)) != quadrant.of_int(0); }

X sin_or_cos(X x, bool cosine) {
  const Reduced a = reduce_angle(x);
  const X quadrant = cosine ? a.quadrant + a.quadrant.of_int(1) : a.quadrant;
  const X r = single(a.r), z = r * r;
  const X s = fma(r * z,
                  polynomial(z, {-0.1666666716337204, 0.0083333291113376617, -0.00019839311426039785,
                                 2.7181135919818189e-06}),
                  r);
  const X c = fma(z * z,
                  polynomial(z, {0.041666667908430099, -0.0013888883404433727, 2.4799459424684756e-05,
                                 -2.72056752237404e-07}),
                  fma(z, -0.5, 1.0));
  const X y = select(bit_set(quadrant, 1), c, s);
  const X signed_y = select(bit_set(quadrant, 2), -y, y);
  return unless_huge(cosine ? Prim::kCos : Prim::kSin, x, cosine ? signed_y : unless_zero(x, signed_y));
}

X tan(X x) {
  const Reduced a = reduce_angle(x);
  const X s = sin_wide(a.r), c = cos_wide(a.r), odd = bit_set(a.quadrant, 1);
  const X y = single(select(odd, -c, s) / select(odd, s, c));
  return unless_huge(Prim::kTan, x, unless_zero(x, y));
}

X expm1(X x) {
  const X w = clamp(wide(x), -kExpLimit, kExpLimit);
  const X small = w * polynomial(w, {1, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120});
  return single(select(abs(w) < 0.01, small, exp_wide(w) - 1.0));
}

X log1p(X x) {
  const X special = select(x == -1.0, x.of(-kInfinity), select(x < -1.0, x.of(kNan), x));
  return select((x > -1.0) & (x < kInfinity), unless_zero(x, single(log1p_wide(wide(x)))), special);
}

// As in IEEE 754: 1 to anything and anything to 0 are 1.
X pow(X x, X y) {
  const X a = abs(x);
  const X integer = trunc(y) == y, half = y * 0.5, odd = integer & (trunc(half) != half);
  X r = single(exp_wide(clamp(wide(y) * log_wide(wide(a)), -kExpLimit, kExpLimit)));
  r = select(a == 0.0, select(y < 0.0, x.of(kInfinity), x.of(0)), r);
  r = select(a == kInfinity, select(y < 0.0, x.of(0), x.of(kInfinity)), r);
  r = select(a == 1.0, x.of(1), r);
  const X negative = x.as(DType::kS32) < x.as(DType::kS32).of_int(0);
  r = select(negative & odd, -r, r);
  const X finite_negative = (x < 0.0) & (a < kInfinity);
  const X undefined = (finite_negative & !integer) | is_nan(x) | is_nan(y);
  r = select(undefined, x.of(kNan), r);
  return select((x == 1.0) | (y == 0.0), x.of(1), r);
}

X atan(X x) { return with_sign(single(atan_wide(wide(abs(x)))), x); }

X atan2(X y, X x) {
  const X ay = wide(abs(y)), ax = wide(abs(x));
  X t = ay / ax;
  t = select((ay == 0.0) & (ax == 0.0), t.of(0), t);
  t = select((ay == kInfinity) & (ax == kInfinity), t.of(1), t);
  const X a = atan_wide(t);
  const X left = x.as(DType::kS32) < x.as(DType::kS32).of_int(0);
  return with_sign(single(select(left, std::numbers::pi - a, a)), y);
}

X asin(X x) {
  const X a = wide(abs(x));
  return with_sign(single(atan_wide(a / sqrt((1.0 - a) * (1.0 + a)))), x);
}

X acos(X x) {
  const X w = wide(x);
  return single(2.0 * atan_wide(sqrt((1.0 - w) / (1.0 + w))));
}

X sinh(X x) {
  const X a = clamp(wide(abs(x)), 0, kExpLimit), z = a * a;
  const X e = exp_wide(a);
  const X small = a * polynomial(z, {1, 1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880});
  return with_sign(single(select(a < 0.3, small, 0.5 * (e - 1.0 / e))), x);
}

X cosh(X x) {
  const X e = exp_wide(clamp(wide(abs(x)), 0, kExpLimit));
  return single(0.5 * (e + 1.0 / e));
}

X asinh(X x) {
  const X a = wide(abs(x));
  const X l = log1p_wide(a + a * a / (1.0 + sqrt(a * a + 1.0)));
  return with_sign(select(abs(x) < kInfinity, single(l), abs(x)), x);
}

X acosh(X x) {
  const X t = wide(x) - 1.0;
  const X l = single(log1p_wide(t + sqrt(t * (t + 2.0))));
  return select(x < 1.0, x.of(kNan), select(x < kInfinity, l, x));
}

X atanh(X x) {
  const X a = wide(abs(x));
  const X l = single(0.5 * log1p_wide(2.0 * a / (1.0 - a)));
  const X at_one = select(abs(x) == 1.0, x.of(kInfinity), x.of(kNan));
  return with_sign(select(abs(x) < 1.0, l, at_one), x);
}

// A third of the exponent for a start, then Halley's iteration.
X cbrt(X x) {
  const X a = wide(abs(x)), upper = shift_right(a.as(DType::kS64), 32).to(DType::kU32);
  const X guess = upper / upper.of_int(3) + upper.of_int(715094163);
  X t = shift_left(guess.to(DType::kS64), 32).as(DType::kF64);
  for (int step = 0; step < 2; ++step) {
    const X cube = t * t * t;
    t = t * ((cube + 2.0 * a) / (2.0 * cube + a));
  }
  return select((abs(x) < kInfinity) & (x != x.of(0)), with_sign(single(t), x), x);
}

std::optional<X> expand(Prim prim, X x, X y) {
  switch (prim) {
    case Prim::kExp:
      return exp(x);
    case Prim::kLog:
      return log(x);
    case Prim::kTanh:
      return tanh(x);
    case Prim::kErf:
      return erf(x);
    case Prim::kSin:
      return sin_or_cos(x, false);
    case Prim::kCos:
      return sin_or_cos(x, true);
    case Prim::kTan:
      return tan(x);
    case Prim::kExpm1:
      return expm1(x);
    case Prim::kLog1p:
      return log1p(x);
    case Prim::kPow:
      return pow(x, y);
    case Prim::kAtan2:
      return atan2(x, y);
    case Prim::kAtan:
      return atan(x);
    case Prim::kAsin:
      return asin(x);
    case Prim::kAcos:
      return acos(x);
    case Prim::kSinh:
      return sinh(x);
    case Prim::kCosh:
      return cosh(x);
    case Prim::kAsinh:
      return asinh(x);
    case Prim::kAcosh:
      return acosh(x);
    case Prim::kAtanh:
      return atanh(x);
    case Prim::kCbrt:
      return cbrt(x);
    default:
      return std::nullopt;
  }
}

}  // namespace

Kernel expand_math(const Kernel& kernel) {
  Kernel result = kernel;
  result.body.nodes.clear();
  TapeBuilder b(result.body);
  std::vector<int32_t> moved;
  moved.reserve(kernel.body.nodes.size());
  auto to = [&](int32_t node) { return node < 0 ? node : moved[node]; };
  for (TapeNode n : kernel.body.nodes) {
    n.a = to(n.a), n.b = to(n.b), n.c = to(n.c);
    std::optional<X> expanded;
    if (n.dtype == DType::kF32 && n.prim >= Prim::kCbrt && n.prim <= Prim::kAtanh)
      expanded = expand(n.prim, {&b, {n.a, -1, DType::kF32}}, {&b, {n.b, -1, DType::kF32}});
    moved.push_back(expanded ? expanded->v.re : b.push(n));
  }
  return result;
}

}  // namespace armillary::kernels
