// Rows that change the element type or its precision.
#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

Val convert(TapeBuilder& b, Xs x, const OpContext&, DType to) { return b.convert(x[0], to); }

Shape convert_shape(const OpContext& c) {
  check_signature(Op::convert, c);
  need_array(Op::convert, c, 0);
  const Shape& stated = stated_shape(Op::convert, c);
  if (!stated.is_array()) throw user_error("convert gives {}, but must give an array", to_string(stated));
  return array_result(c, stated.dtype, c.operand(0).dims);
}

Val reduce_precision(TapeBuilder& b, Xs x, const OpContext& c, DType) {
  return b.reduce_precision(x[0], static_cast<int>(c.attrs.integer(Attr::exponent_bits)),
                            static_cast<int>(c.attrs.integer(Attr::mantissa_bits)));
}

// 1: at least one exponent bit; 2: no negative mantissa.
void reduce_precision_check(const OpContext& c) {
  const int64_t exponent = c.attrs.integer(Attr::exponent_bits),
                mantissa = c.attrs.integer(Attr::mantissa_bits);
  if (exponent < 1 || exponent > 30)
    throw user_error("exponent_bits={} of reduce-precision must be in [1, 30]", exponent);
  if (mantissa < 0 || mantissa > 60)
    throw user_error("mantissa_bits={} of reduce-precision must be in [0, 60]", mantissa);
}

// Rounds |x| to an integer, up with the probability of its fraction: the random bits are compared with the
// fraction's first bits.
Val stochastic_convert(TapeBuilder& b, Xs x, const OpContext&, DType to) {
  if (!is_signed(to)) throw unsupported_error("stochastic-convert to {}", to_string(to));
  const DType random = x[1].dtype;
  const int bits = bit_width(random);
  const DType wide = bits == 64 ? DType::kF64 : DType::kF32;
  const Val value = b.convert(x[0], wide), size = b.abs(value), whole = b.trunc(size),
            fraction = b.sub(size, whole);
  const Val threshold = b.convert(
      b.mul(fraction, b.constant(wide, static_cast<double>(
                                           bits == 64 ? 0x1p64 : static_cast<double>(uint64_t{1} << bits)))),
      random);
  const Val up = b.select(b.compare(Prim::kLt, x[1], threshold), b.one(wide), b.zero(wide));
  const Val rounded = b.add(whole, up), negative = b.compare(Prim::kLt, value, b.zero(wide));
  return b.convert(b.select(negative, b.neg(rounded), rounded), to);
}

Shape stochastic_convert_shape(const OpContext& c) {
  check_signature(Op::stochastic_convert, c);
  need_array(Op::stochastic_convert, c, 0, kFloatType);
  need_array(Op::stochastic_convert, c, 1, kUnsignedType);
  need_same_dims(Op::stochastic_convert, c, 1, 0);
  if (bit_width(c.operand(0).dtype) != bit_width(c.operand(1).dtype))
    throw user_error("operand 1 is {}, but stochastic-convert needs as many random bits as operand 0 has: {}",
                     to_string(c.operand(1)), bit_width(c.operand(0).dtype));
  const Shape& stated = stated_shape(Op::stochastic_convert, c);
  if (!contains(kSignedType | kFloatType, stated.dtype))
    throw user_error("stochastic-convert gives {}, but must give a signed integer or floating-point array",
                     to_string(stated));
  return array_result(c, stated.dtype, c.operand(0).dims);
}

// A pred takes a byte, as in XLA.
int stored_bits(DType d) { return is_pred(d) ? 8 : bit_width(d); }

// With equal widths an elementwise cast; otherwise the last dimension appears or vanishes.
Shape bitcast_convert_shape(const OpContext& c) {
  check_signature(Op::bitcast_convert, c);
  need_array(Op::bitcast_convert, c, 0);
  const Shape& from = c.operand(0);
  const DType to = stated_shape(Op::bitcast_convert, c).dtype;
  if (!is_array_dtype(to))
    throw user_error("bitcast-convert gives {}, but must give an array", to_string(*c.stated));
  if (is_complex(from.dtype) != is_complex(to))
    throw user_error("operand 0 is {}, but bitcast-convert to {} may not cross between real and complex",
                     to_string(from), to_string(to));
  const int have = stored_bits(from.dtype), want = stored_bits(to);
  Dims dims = from.dims;
  if (have > want) {
    dims.push_back(have / want);
  } else if (have < want) {
    if (dims.empty() || !same_size(dims.back(), want / have))
      throw user_error("operand 0 is {}, but bitcast-convert to {} needs a last dimension of size {}",
                       to_string(from), to_string(to), want / have);
    dims.pop_back();
  }
  if (std::max(have, want) % std::min(have, want) != 0)
    throw user_error("bitcast-convert cannot turn {} into {}", to_string(from.dtype), to_string(to));
  return array_result(c, to, std::move(dims));
}

DType bits_of(DType d) {
  static constexpr DType kBySize[] = {DType::kU1,  DType::kU2,  DType::kU4, DType::kU8,
                                      DType::kU16, DType::kU32, DType::kU64};
  for (DType bits : kBySize)
    if (bit_width(bits) == bit_width(d)) return bits;
  throw unsupported_error("bitcast-convert between {} and another width", to_string(d));
}

// c128 <-> c64: the parts are f64 and f32, but memory is what is cast, so a part becomes a whole.
Val load_complex_half(TapeBuilder& b, std::span<const Val> index, const Shape& from) {
  const Val whole = b.load(0, from.dtype, from.dims, index.first(from.rank()));
  const Val first = b.compare(Prim::kEq, index.back(), b.index_const(0));
  return b.bitcast(b.bitcast(b.select(first, b.real(whole), b.imag(whole)), DType::kU64), DType::kC64);
}

Val join_complex_halves(TapeBuilder& b, std::vector<Val> index, const Shape& from) {
  Val parts[2];
  for (int part = 0; part < 2; ++part) {
    index.back() = b.index_const(part);
    parts[part] = b.bitcast(b.bitcast(b.load(0, from.dtype, from.dims, index), DType::kU64), DType::kF64);
  }
  return b.complex(parts[0], parts[1]);
}

Val load_bits(TapeBuilder& b, std::span<const Val> index, const Shape& from) {
  const Val x = b.load(0, from.dtype, from.dims, index);
  return is_pred(from.dtype) ? b.convert(x, DType::kU8) : b.bitcast(x, bits_of(from.dtype));
}

Val from_bits(TapeBuilder& b, Val bits, DType to) {
  return is_pred(to) ? b.compare(Prim::kNe, bits, b.zero(bits.dtype)) : b.bitcast(bits, to);
}

// Little-endian: the first of the narrow elements holds the low bits.
Val bitcast_convert(TapeBuilder& b, std::span<const Val> index, const OpContext& c, const Shape& result) {
  const Shape& from = c.operand(0);
  const int have = stored_bits(from.dtype), want = stored_bits(result.dtype);
  if (have == want && (is_pred(from.dtype) || is_pred(result.dtype)))
    return from_bits(b, load_bits(b, index, from), result.dtype);
  if (have == want) return b.bitcast(b.load(0, from.dtype, from.dims, index), result.dtype);
  if (have > want) {
    if (is_complex(from.dtype)) return load_complex_half(b, index, from);
    const Val whole = load_bits(b, index.first(from.rank()), from);
    const Val amount = b.convert(b.mul(index.back(), b.index_const(want)), whole.dtype);
    const DType narrow = is_pred(result.dtype) ? DType::kU8 : bits_of(result.dtype);
    return from_bits(b, b.convert(b.shr_logical(whole, amount), narrow), result.dtype);
  }
  std::vector<Val> part(index.begin(), index.end());
  part.emplace_back();
  if (is_complex(from.dtype)) return join_complex_halves(b, std::move(part), from);
  const DType wide = is_pred(result.dtype) ? DType::kU8 : bits_of(result.dtype);
  Val joined = b.zero(wide);
  for (int i = 0; i < want / have; ++i) {
    part.back() = b.index_const(i);
    const Val bits = b.convert(load_bits(b, part, from), wide);
    joined = b.bit_or(joined, b.shl(bits, b.constant_int(wide, i * have)));
  }
  return from_bits(b, joined, result.dtype);
}

}  // namespace

std::vector<OpDef> conversion_rows() {
  return {
      {.op = Op::convert,
       .stablehlo = "convert",
       .arity = 1,
       .traits = kElementwise | kNeedsShape,
       .doc = "The same value in another type: floats round to nearest even, float to integer saturates, "
              "integers wrap.",
       .infer = convert_shape,
       .meaning = Meaning::kScalar,
       .scalar = convert},
      {.op = Op::reduce_precision,
       .stablehlo = "reduce_precision",
       .arity = 1,
       .traits = kElementwise,
       .attrs = {Attr::exponent_bits, Attr::mantissa_bits},
       .doc = "Rounds to what a float with fewer exponent and mantissa bits can hold.",
       .infer = same_as_operands<Op::reduce_precision, kFloatType>,
       .check = reduce_precision_check,
       .meaning = Meaning::kScalar,
       .scalar = reduce_precision},
      {.op = Op::stochastic_convert,
       .arity = 2,
       .traits = kElementwise | kNeedsShape,
       .doc = "Converts, rounding up with the probability of the fraction; operand 1 holds the random bits.",
       .infer = stochastic_convert_shape,
       .meaning = Meaning::kScalar,
       .scalar = stochastic_convert},
      {.op = Op::bitcast_convert,
       .stablehlo = "bitcast_convert",
       .arity = 1,
       .traits = kNeedsShape,
       .doc = "The same bits as another type; with other widths the last dimension splits or joins elements.",
       .infer = bitcast_convert_shape,
       .meaning = Meaning::kIndex,
       .element = bitcast_convert},
  };
}

}  // namespace armillary
