// Complex arithmetic, powers, exponentials and logarithms.
#include "xla_core/ops/tape_complex.h"

#include "xla_core/base/error.h"
#include "xla_core/ops/real_expr.h"

namespace armillary {

Parts parts_of(TapeBuilder& b, Val x) {
  return {{&b, b.convert(b.real(x), DType::kF64)},
          {&b, b.convert(b.imag(x), DType::kF64)},
          x.dtype == DType::kC64};
}

Val from_parts(Parts z, DType dtype) {
  TapeBuilder& b = *z.re.b;
  const DType part = real_part_of(dtype);
  return b.complex(b.convert(z.re.v, part), b.convert(z.im.v, part));
}

Parts times_i(Parts z) { return z.with(-z.im, z.re); }
Parts over_i(Parts z) { return z.with(z.im, -z.re); }

namespace {

Truth is_infinite(Real x) { return abs(x) == kInfinity; }
Truth is_nan(Real x) { return x != x; }

// 2^-e and 2^e for m = f * 2^e with 1 <= f < 2, both finite and not zero whatever m.
struct PowerOfTwo {
  Real down, up;
};
PowerOfTwo scale_of(Real m) {
  TapeBuilder& b = *m.b;
  auto bits = [&](int64_t biased_exponent) { return b.constant_int(DType::kU64, biased_exponent << 52); };
  const Val exponent = b.bit_and(b.bitcast(m.v, DType::kU64), bits(0x7ff));
  const Val up = b.max(b.min(exponent, bits(2045)), bits(1));
  return {{&b, b.bitcast(b.sub(bits(2046), up), DType::kF64)}, {&b, b.bitcast(up, DType::kF64)}};
}

// a c + b d with one rounding's worth of error even when the products cancel (Kahan).
Real sum_of_products(Real a, Real c, Real b, Real d) {
  const Exact bd = exact_product(b, d);
  return fma(a, c, bd.value) + bd.error;
}

// re^2 + im^2 - 1 (or, for log1p, re^2 + 2 re + im^2: pass the linear term) with all rounding errors added
// back.
Real squares_plus(Real re, Real im, Real other) {
  const Exact re2 = exact_product(re, re), im2 = exact_product(im, im);
  const Exact first = exact_sum(re2.value, other), second = exact_sum(first.value, im2.value);
  return second.value + (first.error + second.error + re2.error + im2.error);
}

}  // namespace

Real modulus(Parts z) {
  const Real x = abs(z.re), y = abs(z.im);
  const Truth infinite = (x == kInfinity) | (y == kInfinity);  // also when the other part is NaN
  if (z.roomy) return pick(infinite, kInfinity, sqrt(fma(x, x, y * y)));
  const PowerOfTwo scale = scale_of(max(x, y));
  const Real xs = x * scale.down, ys = y * scale.down;
  return pick(infinite, kInfinity, sqrt(fma(xs, xs, ys * ys)) * scale.up);
}

Real log_modulus(Parts z) {
  const Real x = abs(z.re), y = abs(z.im), m = max(x, y), n = min(x, y);
  const Real near_one = 0.5 * log1p(squares_plus(m, n, literal(m, -1)));
  const Real ratio = pick(n == 0.0, 0.0, n / m);
  const Real far = log(m) + 0.5 * log1p(ratio * ratio);
  const Real finite = pick((m >= 0.5) & (m < 2.0), near_one, far);
  return pick(is_infinite(z.re) | is_infinite(z.im), kInfinity, finite);
}

Parts square_root(Parts z) {
  Real x = z.re, y = z.im, unscale = literal(z.re, 1);
  if (!z.roomy) {  // keep |x| + |z| away from overflow and from the subnormals
    const Real m = max(abs(x), abs(y));
    const Truth large = m > 0x1p+1020, small = m < 0x1p-900;
    const Real scale = pick(large, 0x1p-4, pick(small, literal(x, 0x1p+200), 1.0));
    unscale = pick(large, 0x1p+2, pick(small, literal(x, 0x1p-100), 1.0));
    x = x * scale, y = y * scale;
  }
  const Real a = sqrt(0.5 * (abs(x) + modulus({x, y, z.roomy})));
  const Real b = pick(y == 0.0, 0.0, abs(y) / (2.0 * a));
  const Truth right = x >= 0.0;
  const Truth infinite = is_infinite(z.im);  // whatever the real part
  const Real re = pick(infinite, kInfinity, pick(right, a, b) * unscale);
  const Real im = copysign(pick(infinite, kInfinity, abs(pick(right, b, a)) * unscale), z.im);
  return z.with(pick(is_nan(x) & !infinite, x, re), pick(is_nan(x) & !infinite, x, im));
}

// As written, without recovery of infinities. The products of f32 parts are exact in f64, so a part of c64 is
// rounded once.
Val complex_mul(TapeBuilder& b, Val x, Val y) {
  const Parts p = parts_of(b, x), q = parts_of(b, y);
  return from_parts(p.with(p.re * q.re - p.im * q.im, p.re * q.im + p.im * q.re), x.dtype);
}

namespace {

// C11 annex G: what a quotient with both parts NaN should have been.
Parts recover_quotient(Parts naive, Parts x, Parts y) {
  const Truth lost = is_nan(naive.re) & is_nan(naive.im);
  auto boxed = [](Real v) { return copysign(pick(is_infinite(v), literal(v, 1), 0.0), v); };
  const Truth by_zero = (y.re == 0.0) & (y.im == 0.0) & !(is_nan(x.re) & is_nan(x.im));
  const Truth x_infinite = is_infinite(x.re) | is_infinite(x.im),
              y_infinite = is_infinite(y.re) | is_infinite(y.im);
  const Truth x_finite = is_finite(x.re) & is_finite(x.im), y_finite = is_finite(y.re) & is_finite(y.im);
  const Real zero_sign = copysign(kInfinity, y.re);
  const Real xr = boxed(x.re), xi = boxed(x.im), yr = boxed(y.re), yi = boxed(y.im);
  auto choose = [&](Real plain, Real zero, Real infinite, Real tiny) {
    const Real fixed =
        pick(by_zero, zero, pick(x_infinite & y_finite, infinite, pick(y_infinite & x_finite, tiny, plain)));
    return pick(lost, fixed, plain);
  };
  return naive.with(
      choose(naive.re, zero_sign * x.re, kInfinity * (xr * y.re + xi * y.im), 0.0 * (x.re * yr + x.im * yi)),
      choose(naive.im, zero_sign * x.im, kInfinity * (xi * y.re - xr * y.im), 0.0 * (x.im * yr - x.re * yi)));
}

}  // namespace

Val complex_div(TapeBuilder& b, Val x, Val y) {
  const Parts n = parts_of(b, x), d = parts_of(b, y);
  if (n.roomy) {
    const Real norm = d.re * d.re + d.im * d.im;
    return from_parts(
        recover_quotient(n.with((n.re * d.re + n.im * d.im) / norm, (n.im * d.re - n.re * d.im) / norm), n,
                         d),
        x.dtype);
  }
  const PowerOfTwo scale = scale_of(max(abs(d.re), abs(d.im)));
  const Real c = d.re * scale.down * 0.25,
             e = d.im * scale.down * 0.25;  // parts below 1/2, so that products cannot overflow
  const Real norm = fma(c, c, e * e);
  // The scale is undone before the division when it shrinks and after it when it grows: neither step
  // overflows unless the quotient does.
  const Real back = 0.25 * scale.down, shrink = min(back, literal(back, 1)),
             grow = max(back, literal(back, 1));
  const Real re = sum_of_products(n.re, c, n.im, e) * shrink / norm * grow,
             im = sum_of_products(n.im, c, -n.re, e) * shrink / norm * grow;
  return from_parts(recover_quotient(n.with(re, im), n, d), x.dtype);
}

Val complex_compare(TapeBuilder& b, Prim direction, Val x, Val y) {
  const Val re = b.compare(direction, b.real(x), b.real(y)), im = b.compare(direction, b.imag(x), b.imag(y));
  if (direction == Prim::kEq) return b.bit_and(re, im);
  if (direction == Prim::kNe) return b.bit_or(re, im);
  throw internal_error("complex numbers have no order");
}

namespace {

// Lexicographic; NaN in the deciding place wins, as it does for real numbers.
Val lexicographic(TapeBuilder& b, Prim direction, Val x, Val y) {
  const Val re_equal = b.compare(Prim::kEq, b.real(x), b.real(y));
  auto wins = [&](Val p, Val q) { return b.bit_or(b.compare(direction, p, q), b.compare(Prim::kNe, p, p)); };
  return b.select(b.select(re_equal, wins(b.imag(x), b.imag(y)), wins(b.real(x), b.real(y))), x, y);
}

}  // namespace

Val complex_min(TapeBuilder& b, Val x, Val y) { return lexicographic(b, Prim::kLt, x, y); }
Val complex_max(TapeBuilder& b, Val x, Val y) { return lexicographic(b, Prim::kGt, x, y); }

Val complex_abs(TapeBuilder& b, Val x) { return b.convert(modulus(parts_of(b, x)).v, real_part_of(x.dtype)); }

Val complex_sign(TapeBuilder& b, Val x) {
  const Parts z = parts_of(b, x);
  const Real size = modulus(z);
  const Truth zero = size == 0.0;
  return from_parts(z.with(pick(zero, z.re, z.re / size), pick(zero, z.im, z.im / size)), x.dtype);
}

Val complex_sqrt(TapeBuilder& b, Val x) { return from_parts(square_root(parts_of(b, x)), x.dtype); }

// conj(sqrt z) / |z|; the pole gives (inf, NaN) as 1 / 0 does, infinity gives 0.
Val complex_rsqrt(TapeBuilder& b, Val x) {
  const Parts z = parts_of(b, x), root = square_root(z);
  const Real size = modulus(z);
  const Truth infinite = size == kInfinity;
  const Real im = pick(infinite, -copysign(0.0, z.im), -(root.im / size));
  return from_parts(z.with(pick(infinite, 0.0, pick(size == 0.0, kInfinity, root.re / size)), im), x.dtype);
}

// The principal root: a third of the angle.
Val complex_cbrt(TapeBuilder& b, Val x) {
  const Parts z = parts_of(b, x);
  const Real size = cbrt(modulus(z)), angle = atan2(z.im, z.re) / 3.0;
  return from_parts(z.with(size * cos(angle), size * sin(angle)), x.dtype);
}

namespace {

// e^x (cos y, sin y), where e^x alone may overflow though the product does not.
Parts exponential(Parts z) {
  const Real c = cos(z.im), s = sin(z.im);
  Real re = z.re, im = z.im;
  if (z.roomy) {
    const Real e = exp(z.re);
    re = e * c, im = e * s;
  } else {
    const Real capped = min(z.re, literal(z.re, 709)), e = exp(capped), rest = exp(z.re - capped);
    re = e * c * rest, im = e * s * rest;
  }
  const Truth vanishes = z.re == -kInfinity, unknown = (z.re == kInfinity) & !is_finite(z.im);
  return z.with(pick(vanishes, 0.0, pick(unknown, kInfinity, re)),
                pick(z.im == 0.0, z.im, pick(vanishes, 0.0, im)));
}

}  // namespace

Val complex_exp(TapeBuilder& b, Val x) { return from_parts(exponential(parts_of(b, x)), x.dtype); }

// e^x cos y - 1 = expm1(x) cos y - 2 sin^2(y / 2). Without a direction, infinity has no limit.
Val complex_expm1(TapeBuilder& b, Val x) {
  const Parts z = parts_of(b, x), e = exponential(z);
  const Real half = sin(0.5 * z.im);
  const Real near = expm1(z.re) * cos(z.im) - 2.0 * half * half, nan = z.im - z.im;
  const Truth lost = is_infinite(z.re) & !is_finite(z.im);
  const Real re = pick(abs(z.re) < 100.0, near, e.re - 1.0);
  return from_parts(z.with(pick(lost, nan, re), pick(lost, nan, e.im)), x.dtype);
}

Val complex_log(TapeBuilder& b, Val x) {
  const Parts z = parts_of(b, x);
  return from_parts(z.with(log_modulus(z), atan2(z.im, z.re)), x.dtype);
}

Val complex_log1p(TapeBuilder& b, Val x) {
  const Parts z = parts_of(b, x);
  const Real shifted = z.re + 1.0, m = max(abs(shifted), abs(z.im));
  const Real near = 0.5 * log1p(squares_plus(z.re, z.im, 2.0 * z.re));
  const Real re = pick((m >= 0.5) & (m < 2.0), near, log_modulus(z.with(shifted, z.im)));
  return from_parts(z.with(re, atan2(z.im, shifted)), x.dtype);
}

// |z|^c e^(-d t) (cos q, sin q) with t the angle of z, w = c + i d and q = c t + d log|z|.
Val complex_pow(TapeBuilder& b, Val x, Val y) {
  const Parts z = parts_of(b, x), w = parts_of(b, y);
  const Real size = modulus(z), angle = atan2(z.im, z.re);
  const Truth real_power = w.im == 0.0, zero_power = real_power & (w.re == 0.0), zero_base = size == 0.0;
  const Real turn = pick(real_power, w.re * angle, w.re * angle + w.im * log_modulus(z));
  const Real power = pow(size, w.re), grown = pick(real_power, power, power * exp(-(w.im * angle)));
  const Truth vanishes = zero_base & (w.re > 0.0);
  const Real re = pick(vanishes, 0.0, grown * cos(turn));
  const Real im = pick(vanishes, 0.0, pick((turn == 0.0) & is_finite(grown), 0.0, grown * sin(turn)));
  return from_parts(z.with(pick(zero_power, 1.0, re), pick(zero_power, 0.0, im)), x.dtype);
}

}  // namespace armillary
