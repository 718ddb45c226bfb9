// The builder's real arithmetic: widen to the compute type, one primitive, round or wrap back. Complex cases
// go to tape_complex.h.
#include "xla_core/ops/tape.h"

#include <bit>

#include "xla_core/base/error.h"
#include "xla_core/ops/tape_complex.h"
#include "xla_core/ops/tape_parts.h"
#include "xla_core/shape/literal.h"

namespace armillary {

std::string_view to_string(Prim prim) {
  static constexpr std::string_view names[] = {
      "arg",         "const",    "index", "load",        "add",        "sub",        "mul",      "div",
      "rem",         "min",      "max",   "neg",         "abs",        "sign",       "and",      "or",
      "xor",         "not",      "shl",   "shr_logical", "shr_arith",  "popcnt",     "clz",      "mulhi",
      "eq",          "ne",       "lt",    "le",          "gt",         "ge",         "select",   "convert",
      "bitcast",     "fma",      "floor", "ceil",        "round_even", "round_afz",  "trunc",    "sqrt",
      "rsqrt",       "cbrt",     "exp",   "expm1",       "log",        "log1p",      "sin",      "cos",
      "tan",         "tanh",     "erf",   "pow",         "atan2",      "asin",       "acos",     "atan",
      "sinh",        "cosh",     "asinh", "acosh",       "atanh",      "loop_begin", "loop_end", "carry",
      "loop_result", "if_begin", "else",  "if_end",      "store"};
  static_assert(std::size(names) == static_cast<size_t>(Prim::kStore) + 1);
  return names[static_cast<size_t>(prim)];
}

bool is_narrow_float(DType d) { return is_float(d) && d != DType::kF32 && d != DType::kF64; }

DType compute_dtype(DType d) {
  if (is_narrow_float(d)) return DType::kF32;
  if (is_integer(d) && bit_width(d) < 8) return is_signed(d) ? DType::kS32 : DType::kU32;
  return d;
}

int64_t constant_bits_int(DType dtype, int64_t value) {
  if (is_pred(dtype)) return value != 0;
  if (!is_integer(dtype)) return constant_bits(dtype, static_cast<double>(value));
  const int bits = bit_width(dtype);
  return bits == 64 ? value : value & ((int64_t{1} << bits) - 1);
}

int64_t constant_bits(DType dtype, double value) {
  if (is_pred(dtype)) return value != 0;
  if (is_integer(dtype)) return constant_bits_int(dtype, static_cast<int64_t>(value));
  if (dtype == DType::kF64) return std::bit_cast<int64_t>(value);
  if (dtype == DType::kF32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  return static_cast<int64_t>(encode_float(dtype, value));
}

std::optional<int64_t> index_value(const Tape& tape, int32_t node) {
  const TapeNode& n = tape.nodes[node];
  if (n.prim != Prim::kConst || n.dtype != DType::kS64) return std::nullopt;
  return n.imm;
}

int32_t widen(TapeBuilder& b, int32_t node, DType dtype) {
  const DType wide = compute_dtype(dtype);
  if (wide == dtype) return node;
  const TapeNode& n = b.tape().nodes[node];
  if (n.prim == Prim::kConst && is_float(dtype))
    return b.push({Prim::kConst, wide, 0, -1, -1, -1,
                   constant_bits(wide, decode_float(dtype, static_cast<uint64_t>(n.imm)))});
  return b.push({Prim::kConvert, wide, 0, node});
}

int32_t narrow(TapeBuilder& b, int32_t node, DType dtype) {
  return compute_dtype(dtype) == dtype ? node : b.push({Prim::kConvert, dtype, 0, node});
}

int32_t TapeBuilder::push(TapeNode node) {
  tape_.nodes.push_back(node);
  return static_cast<int32_t>(tape_.nodes.size()) - 1;
}

int32_t TapeBuilder::unary(Prim prim, DType dtype, int32_t a) { return push({prim, dtype, 0, a}); }

// Index arithmetic on constants is done here, so that recipes need not care about dimensions of size one and
// the like.
int32_t TapeBuilder::binary(Prim prim, DType dtype, int32_t a, int32_t b) {
  if (dtype == DType::kS64) {
    const std::optional<int64_t> x = index_value(tape_, a), y = index_value(tape_, b);
    auto fold = [&](uint64_t value) {
      return push({Prim::kConst, dtype, 0, -1, -1, -1, static_cast<int64_t>(value)});
    };
    const uint64_t ux = static_cast<uint64_t>(x.value_or(0)),
                   uy = static_cast<uint64_t>(y.value_or(0));  // wraps, as HLO does
    if (prim == Prim::kAdd) {
      if (x && y) return fold(ux + uy);
      if (x && *x == 0) return b;
      if (y && *y == 0) return a;
    } else if (prim == Prim::kSub) {
      if (x && y) return fold(ux - uy);
      if (y && *y == 0) return a;
    } else if (prim == Prim::kMul) {
      if (x && y) return fold(ux * uy);
      if (x && *x == 1) return b;
      if (y && *y == 1) return a;
      if ((x && *x == 0) || (y && *y == 0)) return fold(0);
    } else if (prim == Prim::kDiv && y && *y > 0) {
      if (*y == 1) return a;
      if (x) return fold(static_cast<uint64_t>(*x / *y));
    } else if (prim == Prim::kRem && y && *y > 0) {
      if (*y == 1) return fold(0);
      if (x) return fold(static_cast<uint64_t>(*x % *y));
    } else if ((prim == Prim::kMin || prim == Prim::kMax) && x && y) {
      return (prim == Prim::kMin) == (*x <= *y) ? a : b;
    }
  }
  return push({prim, dtype, 0, a, b});
}

Val TapeBuilder::real_unary(Prim prim, Val x) {
  return {narrow(*this, unary(prim, compute_dtype(x.dtype), widen(*this, x.re, x.dtype)), x.dtype), -1,
          x.dtype};
}

Val TapeBuilder::real_binary(Prim prim, Val x, Val y) {
  if (x.dtype != y.dtype)
    throw internal_error("{} of {} and {}", to_string(prim), to_string(x.dtype), to_string(y.dtype));
  const int32_t a = widen(*this, x.re, x.dtype), b = widen(*this, y.re, y.dtype);
  return {narrow(*this, binary(prim, compute_dtype(x.dtype), a, b), x.dtype), -1, x.dtype};
}

Val TapeBuilder::arg(int number, DType dtype) {
  const DType part = real_part_of(dtype);
  Val v{push({Prim::kArg, part, 0, -1, -1, -1, number}), -1, dtype};
  if (is_complex(dtype)) v.im = push({Prim::kArg, part, 1, -1, -1, -1, number});
  return v;
}

Val TapeBuilder::constant(DType dtype, double value) {
  const DType part = real_part_of(dtype);
  Val v{push({Prim::kConst, part, 0, -1, -1, -1, constant_bits(part, value)}), -1, dtype};
  if (is_complex(dtype)) v.im = push({Prim::kConst, part, 0, -1, -1, -1, 0});
  return v;
}

Val TapeBuilder::constant_int(DType dtype, int64_t value) {
  if (is_complex(dtype)) return constant(dtype, static_cast<double>(value));
  return {push({Prim::kConst, dtype, 0, -1, -1, -1, constant_bits_int(dtype, value)}), -1, dtype};
}

// pred: add is or, multiply is and, subtract is xor (arithmetic modulo 2 has no carry to lose).
Val TapeBuilder::add(Val x, Val y) {
  if (is_complex(x.dtype)) return complex(add(real(x), real(y)), add(imag(x), imag(y)));
  return real_binary(is_pred(x.dtype) ? Prim::kOr : Prim::kAdd, x, y);
}
Val TapeBuilder::sub(Val x, Val y) {
  if (is_complex(x.dtype)) return complex(sub(real(x), real(y)), sub(imag(x), imag(y)));
  return real_binary(is_pred(x.dtype) ? Prim::kXor : Prim::kSub, x, y);
}
Val TapeBuilder::mul(Val x, Val y) {
  if (is_complex(x.dtype)) return complex_mul(*this, x, y);
  return real_binary(is_pred(x.dtype) ? Prim::kAnd : Prim::kMul, x, y);
}
Val TapeBuilder::div(Val x, Val y) {
  return is_complex(x.dtype) ? complex_div(*this, x, y) : real_binary(Prim::kDiv, x, y);
}
Val TapeBuilder::rem(Val x, Val y) { return real_binary(Prim::kRem, x, y); }
Val TapeBuilder::min(Val x, Val y) {
  if (is_complex(x.dtype)) return complex_min(*this, x, y);
  return real_binary(is_pred(x.dtype) ? Prim::kAnd : Prim::kMin, x, y);
}
Val TapeBuilder::max(Val x, Val y) {
  if (is_complex(x.dtype)) return complex_max(*this, x, y);
  return real_binary(is_pred(x.dtype) ? Prim::kOr : Prim::kMax, x, y);
}
Val TapeBuilder::neg(Val x) {
  if (is_pred(x.dtype)) return x;
  return is_complex(x.dtype) ? complex(neg(real(x)), neg(imag(x))) : real_unary(Prim::kNeg, x);
}
Val TapeBuilder::abs(Val x) {
  if (is_complex(x.dtype)) return complex_abs(*this, x);
  return is_pred(x.dtype) || is_unsigned(x.dtype) ? x : real_unary(Prim::kAbs, x);
}
Val TapeBuilder::sign(Val x) {
  if (is_complex(x.dtype)) return complex_sign(*this, x);
  return is_pred(x.dtype) ? x : real_unary(Prim::kSign, x);
}

Val TapeBuilder::compare(Prim direction, Val x, Val y) {
  if (is_complex(x.dtype)) return complex_compare(*this, direction, x, y);
  if (x.dtype != y.dtype)
    throw internal_error("compare of {} and {}", to_string(x.dtype), to_string(y.dtype));
  const int32_t a = widen(*this, x.re, x.dtype), b = widen(*this, y.re, y.dtype);
  return {push({direction, DType::kPred, 0, a, b}), -1, DType::kPred};
}

// Narrow floats are selected by their bits, so that a NaN's payload survives.
Val TapeBuilder::select(Val pred, Val on_true, Val on_false) {
  const DType d = on_true.dtype;
  if (is_complex(d))
    return complex(select(pred, real(on_true), real(on_false)), select(pred, imag(on_true), imag(on_false)));
  if (is_narrow_float(d) && bit_width(d) >= 8) {
    const DType bits = unsigned_of_width(bit_width(d));
    return bitcast(select(pred, bitcast(on_true, bits), bitcast(on_false, bits)), d);
  }
  const int32_t a = widen(*this, on_true.re, d), b = widen(*this, on_false.re, d);
  return {narrow(*this, push({Prim::kSelect, compute_dtype(d), 0, pred.re, a, b}), d), -1, d};
}

Val TapeBuilder::convert(Val x, DType to) {
  if (x.dtype == to) return x;
  if (is_complex(x.dtype)) {
    if (is_complex(to))
      return complex(convert(real(x), real_part_of(to)), convert(imag(x), real_part_of(to)));
    if (is_pred(to)) return bit_or(convert(real(x), to), convert(imag(x), to));
    return convert(real(x), to);
  }
  if (is_complex(to)) return complex(convert(x, real_part_of(to)), zero(real_part_of(to)));
  if (is_integer(to) && x.dtype == DType::kS64)
    if (auto value = index_value(tape_, x.re)) return constant_int(to, *value);
  return {push({Prim::kConvert, to, 0, x.re}), -1, to};
}

Val TapeBuilder::real(Val x) { return is_complex(x.dtype) ? Val{x.re, -1, real_part_of(x.dtype)} : x; }
Val TapeBuilder::imag(Val x) {
  return is_complex(x.dtype) ? Val{x.im, -1, real_part_of(x.dtype)} : zero(x.dtype);
}
Val TapeBuilder::complex(Val re, Val im) { return {re.re, im.re, complex_of(re.dtype)}; }

Val TapeBuilder::fma(Val x, Val y, Val z) {
  const DType wide = compute_dtype(x.dtype);
  const int32_t a = widen(*this, x.re, x.dtype), b = widen(*this, y.re, x.dtype),
                c = widen(*this, z.re, x.dtype);
  return {narrow(*this, push({Prim::kFma, wide, 0, a, b, c}), x.dtype), -1, x.dtype};
}

Val TapeBuilder::floor(Val x) { return real_unary(Prim::kFloor, x); }
Val TapeBuilder::ceil(Val x) { return real_unary(Prim::kCeil, x); }
Val TapeBuilder::round_even(Val x) { return real_unary(Prim::kRoundEven, x); }
Val TapeBuilder::round_afz(Val x) { return real_unary(Prim::kRoundAfz, x); }
Val TapeBuilder::trunc(Val x) { return real_unary(Prim::kTrunc, x); }

// |x| < inf is false on NaN too. Narrow floats: f32 holds each of their values.
Val TapeBuilder::is_finite(Val x) {
  const Val wide{widen(*this, x.re, x.dtype), -1, compute_dtype(x.dtype)};
  return compare(Prim::kLt, abs(wide), constant(wide.dtype, std::numeric_limits<double>::infinity()));
}

// Transcendental functions: one primitive on reals, a formula on complex numbers.
Val TapeBuilder::sqrt(Val x) {
  return is_complex(x.dtype) ? complex_sqrt(*this, x) : real_unary(Prim::kSqrt, x);
}
Val TapeBuilder::rsqrt(Val x) {
  return is_complex(x.dtype) ? complex_rsqrt(*this, x) : real_unary(Prim::kRsqrt, x);
}
Val TapeBuilder::cbrt(Val x) {
  return is_complex(x.dtype) ? complex_cbrt(*this, x) : real_unary(Prim::kCbrt, x);
}
Val TapeBuilder::exp(Val x) {
  return is_complex(x.dtype) ? complex_exp(*this, x) : real_unary(Prim::kExp, x);
}
Val TapeBuilder::expm1(Val x) {
  return is_complex(x.dtype) ? complex_expm1(*this, x) : real_unary(Prim::kExpm1, x);
}
Val TapeBuilder::log(Val x) {
  return is_complex(x.dtype) ? complex_log(*this, x) : real_unary(Prim::kLog, x);
}
Val TapeBuilder::log1p(Val x) {
  return is_complex(x.dtype) ? complex_log1p(*this, x) : real_unary(Prim::kLog1p, x);
}
Val TapeBuilder::sin(Val x) {
  return is_complex(x.dtype) ? complex_sin(*this, x) : real_unary(Prim::kSin, x);
}
Val TapeBuilder::cos(Val x) {
  return is_complex(x.dtype) ? complex_cos(*this, x) : real_unary(Prim::kCos, x);
}
Val TapeBuilder::tan(Val x) {
  return is_complex(x.dtype) ? complex_tan(*this, x) : real_unary(Prim::kTan, x);
}
Val TapeBuilder::tanh(Val x) {
  return is_complex(x.dtype) ? complex_tanh(*this, x) : real_unary(Prim::kTanh, x);
}
Val TapeBuilder::erf(Val x) { return real_unary(Prim::kErf, x); }
Val TapeBuilder::atan2(Val y, Val x) { return real_binary(Prim::kAtan2, y, x); }
Val TapeBuilder::asin(Val x) {
  return is_complex(x.dtype) ? complex_asin(*this, x) : real_unary(Prim::kAsin, x);
}
Val TapeBuilder::acos(Val x) {
  return is_complex(x.dtype) ? complex_acos(*this, x) : real_unary(Prim::kAcos, x);
}
Val TapeBuilder::atan(Val x) {
  return is_complex(x.dtype) ? complex_atan(*this, x) : real_unary(Prim::kAtan, x);
}
Val TapeBuilder::sinh(Val x) {
  return is_complex(x.dtype) ? complex_sinh(*this, x) : real_unary(Prim::kSinh, x);
}
Val TapeBuilder::cosh(Val x) {
  return is_complex(x.dtype) ? complex_cosh(*this, x) : real_unary(Prim::kCosh, x);
}
Val TapeBuilder::asinh(Val x) {
  return is_complex(x.dtype) ? complex_asinh(*this, x) : real_unary(Prim::kAsinh, x);
}
Val TapeBuilder::acosh(Val x) {
  return is_complex(x.dtype) ? complex_acosh(*this, x) : real_unary(Prim::kAcosh, x);
}
Val TapeBuilder::atanh(Val x) {
  return is_complex(x.dtype) ? complex_atanh(*this, x) : real_unary(Prim::kAtanh, x);
}

}  // namespace armillary
