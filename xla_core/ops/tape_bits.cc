// The builder's work on bits: logic, shifts, counts, bitcasts, total order, and rounding to fewer bits.
#include "xla_core/base/error.h"
#include "xla_core/ops/tape.h"
#include "xla_core/ops/tape_parts.h"

namespace armillary {

DType unsigned_of_width(int bits) {
  switch (bits) {
    case 1:
      return DType::kU1;
    case 2:
      return DType::kU2;
    case 4:
      return DType::kU4;
    case 8:
      return DType::kU8;
    case 16:
      return DType::kU16;
    case 32:
      return DType::kU32;
    case 64:
      return DType::kU64;
  }
  throw internal_error("no unsigned integer has {} bits", bits);
}

DType signed_of_width(int bits) {
  switch (bits) {
    case 1:
      return DType::kS1;
    case 2:
      return DType::kS2;
    case 4:
      return DType::kS4;
    case 8:
      return DType::kS8;
    case 16:
      return DType::kS16;
    case 32:
      return DType::kS32;
    case 64:
      return DType::kS64;
  }
  throw internal_error("no signed integer has {} bits", bits);
}

namespace {

bool is_sub_byte(DType d) { return is_integer(d) && bit_width(d) < 8; }

}  // namespace

Val TapeBuilder::bit_and(Val x, Val y) { return real_binary(Prim::kAnd, x, y); }
Val TapeBuilder::bit_or(Val x, Val y) { return real_binary(Prim::kOr, x, y); }
Val TapeBuilder::bit_xor(Val x, Val y) { return real_binary(Prim::kXor, x, y); }
Val TapeBuilder::bit_not(Val x) { return real_unary(Prim::kNot, x); }

// In the wide type the bits shifted out of a sub-byte integer are lost in the wrap, and an amount of at least
// its width gives 0.
Val TapeBuilder::shl(Val x, Val y) { return real_binary(Prim::kShl, x, y); }

// Sub-byte integers are zero-extended first; a negative amount becomes a huge one.
Val TapeBuilder::shr_logical(Val x, Val y) {
  if (!is_sub_byte(x.dtype)) return real_binary(Prim::kShrLogical, x, y);
  const DType d = x.dtype, bits = unsigned_of_width(bit_width(d));
  const Val wide = convert(convert(x, bits), DType::kU32), amount = convert(y, DType::kU32);
  return convert(convert(shr_logical(wide, amount), bits), d);
}

Val TapeBuilder::shr_arith(Val x, Val y) {
  if (!is_sub_byte(x.dtype)) return real_binary(Prim::kShrArith, x, y);
  const DType d = x.dtype, bits = signed_of_width(bit_width(d));
  const Val wide = convert(convert(x, bits), DType::kS32), amount = convert(y, DType::kS32);
  return convert(convert(shr_arith(wide, amount), bits), d);
}

Val TapeBuilder::popcnt(Val x) {
  if (!is_sub_byte(x.dtype)) return real_unary(Prim::kPopcnt, x);
  return convert(popcnt(convert(convert(x, unsigned_of_width(bit_width(x.dtype))), DType::kU32)), x.dtype);
}

Val TapeBuilder::clz(Val x) {
  if (!is_sub_byte(x.dtype)) return real_unary(Prim::kClz, x);
  const int bits = bit_width(x.dtype);
  const Val wide = clz(convert(convert(x, unsigned_of_width(bits)), DType::kU32));
  return convert(sub(wide, constant_int(DType::kU32, 32 - bits)), x.dtype);
}

// The high half of the double-width product. Sub-byte products fit into 32 bits.
Val TapeBuilder::mulhi(Val x, Val y) {
  if (!is_sub_byte(x.dtype)) return real_binary(Prim::kMulHi, x, y);
  const DType d = x.dtype, wide = compute_dtype(d);
  const Val product = mul(convert(x, wide), convert(y, wide));
  return convert(shr_arith(product, constant_int(wide, bit_width(d))), d);
}

Val TapeBuilder::bitcast(Val x, DType to) {
  const DType from = x.dtype;
  if (from == to) return x;
  if (bit_width(from) != bit_width(to))
    throw internal_error("bitcast from {} to {} changes the width", to_string(from), to_string(to));
  if (is_pred(from) || is_pred(to)) return convert(x, to);
  const Val half = constant_int(DType::kU64, 32);
  if (is_complex(from)) {  // c64: the real part lies first, in the low half
    const Val low = convert(bitcast(real(x), DType::kU32), DType::kU64),
              high = convert(bitcast(imag(x), DType::kU32), DType::kU64);
    return bitcast(bit_or(low, shl(high, half)), to);
  }
  if (is_complex(to)) {
    const Val bits = bitcast(x, DType::kU64);
    return complex(bitcast(convert(bits, DType::kU32), DType::kF32),
                   bitcast(convert(shr_logical(bits, half), DType::kU32), DType::kF32));
  }
  return {unary(Prim::kBitcast, to, x.re), -1, to};
}

// -NaN < -inf < ... < -0 < +0 < ... < +inf < NaN: as signed integers, with the magnitude of negative numbers
// complemented.
Val TapeBuilder::compare_total(Prim direction, Val x, Val y) {
  if (!is_float(x.dtype)) return compare(direction, x, y);
  if (is_narrow_float(x.dtype)) {  // odd encodings (fnuz, f4) order right after widening
    x = {widen(*this, x.re, x.dtype), -1, DType::kF32};
    y = {widen(*this, y.re, y.dtype), -1, DType::kF32};
  }
  const int bits = bit_width(x.dtype);
  const DType ints = signed_of_width(bits);
  auto key = [&](Val v) {
    const Val raw = bitcast(v, ints);
    const Val negative = shr_arith(raw, constant_int(ints, bits - 1));
    return bit_xor(raw, shr_logical(negative, constant_int(ints, 1)));
  };
  return compare(direction, key(x), key(y));
}

// Rounds the mantissa to nearest even, then moves what the exponent cannot hold to infinity or (signed) zero.
// NaN stays as it is.
Val TapeBuilder::reduce_precision(Val x, int exponent_bits, int mantissa_bits) {
  if (is_narrow_float(x.dtype)) {
    const Val wide{widen(*this, x.re, x.dtype), -1, DType::kF32};
    if (exponent_bits >= info(x.dtype).exponent_bits)
      exponent_bits = info(DType::kF32).exponent_bits;  // its subnormals stay
    return {narrow(*this, reduce_precision(wide, exponent_bits, mantissa_bits).re, x.dtype), -1, x.dtype};
  }
  const DTypeInfo& format = info(x.dtype);
  const DType ints = unsigned_of_width(format.bits);
  auto bits = [&](uint64_t value) { return constant_int(ints, static_cast<int64_t>(value)); };
  const uint64_t sign_mask = uint64_t{1} << (format.bits - 1);
  Val raw = bitcast(x, ints);
  if (mantissa_bits < format.mantissa_bits) {
    const int dropped = format.mantissa_bits - mantissa_bits;
    const Val last_kept = bit_and(shr_logical(raw, bits(dropped)), bits(1));
    const Val bias = add(last_kept, bits((uint64_t{1} << (dropped - 1)) - 1));
    raw = bit_and(add(raw, bias), bits(~((uint64_t{1} << dropped) - 1)));
  }
  if (exponent_bits < format.exponent_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;  // largest and, negated and plus one, least exponent
    const Val exponent =
        bit_and(raw, bits(((uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits));
    const Val sign = bit_and(raw, bits(sign_mask));
    const Val infinity = bits(((uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits);
    const Val too_large =
        compare(Prim::kGt, exponent,
                bits(static_cast<uint64_t>(format.exponent_bias + bias) << format.mantissa_bits));
    const Val too_small =
        compare(Prim::kLe, exponent,
                bits(static_cast<uint64_t>(format.exponent_bias - bias) << format.mantissa_bits));
    raw = select(too_large, bit_or(sign, infinity), select(too_small, sign, raw));
  }
  return select(compare(Prim::kNe, x, x), x, bitcast(raw, x.dtype));
}

}  // namespace armillary
