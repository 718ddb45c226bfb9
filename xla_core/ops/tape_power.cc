// Powers: a primitive on floats, repeated squaring on integers, a formula on complex numbers.
#include "xla_core/ops/tape.h"
#include "xla_core/ops/tape_complex.h"
#include "xla_core/ops/tape_parts.h"

namespace armillary {
namespace {

// Wraps like every integer product. A negative exponent: 1 -> 1, -1 -> +-1, others -> 0.
Val integer_pow(TapeBuilder& b, Val base, Val exponent) {
  const DType d = base.dtype;
  const int bits = bit_width(d);
  auto is_set = [&](int bit) {
    const Val mask = b.constant_int(d, static_cast<int64_t>(uint64_t{1} << bit));
    return b.compare(Prim::kNe, b.bit_and(exponent, mask), b.zero(d));
  };
  const int exponent_bits = is_signed(d) ? bits - 1 : bits;
  Val result = b.one(d), square = base;
  for (int bit = 0; bit < exponent_bits; ++bit) {
    if (bit > 0) square = b.mul(square, square);
    result = b.select(is_set(bit), b.mul(result, square), result);
  }
  if (!is_signed(d)) return result;
  const Val minus_one = b.constant_int(d, -1);
  const Val alternating = b.select(is_set(0), minus_one, b.one(d));
  const Val inverse = b.select(b.compare(Prim::kEq, base, b.one(d)), b.one(d),
                               b.select(b.compare(Prim::kEq, base, minus_one), alternating, b.zero(d)));
  return b.select(b.compare(Prim::kLt, exponent, b.zero(d)), inverse, result);
}

}  // namespace

Val TapeBuilder::pow(Val x, Val y) {
  if (is_complex(x.dtype)) return complex_pow(*this, x, y);
  if (!is_integer(x.dtype)) return real_binary(Prim::kPow, x, y);
  const DType wide = compute_dtype(x.dtype);
  if (wide == x.dtype) return integer_pow(*this, x, y);
  return convert(integer_pow(*this, convert(x, wide), convert(y, wide)),
                 x.dtype);  // wrapping once at the end is the same modulo 2^n
}

}  // namespace armillary
