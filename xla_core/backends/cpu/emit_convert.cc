// Conversions between any two real dtypes as LLVM IR. Narrow floats are integers holding their bits;
// arithmetic on them happens in f32.
#include <llvm/IR/Intrinsics.h>

#include "xla_core/backends/cpu/emitter.h"
#include "xla_core/base/error.h"

namespace armillary::cpu {
namespace {

constexpr uint64_t kInfinity = 0x7f800000, kQuietNan = 0x7fc00000, kSignBit = 0x80000000;

bool is_narrow_float(DType d) { return is_float(d) && d != DType::kF32 && d != DType::kF64; }
uint64_t ones(int bits) { return (uint64_t{1} << bits) - 1; }

// The bits of the largest finite magnitude, of what follows it, and of NaN.
struct SpecialBits {
  uint64_t max_finite, overflow, nan;
};
SpecialBits special_bits(const DTypeInfo& f) {
  const uint64_t all = ones(f.exponent_bits + f.mantissa_bits);
  const uint64_t infinity = ones(f.exponent_bits) << f.mantissa_bits;
  if (f.style == FloatStyle::kIeee)
    return {infinity - 1, infinity, infinity | (uint64_t{1} << (f.mantissa_bits - 1))};
  if (f.style == FloatStyle::kFnuz) return {all, uint64_t{1} << (f.bits - 1), uint64_t{1} << (f.bits - 1)};
  if (f.has_nan) return {all - 1, all, all};
  return {all, all, uint64_t{1} << (f.bits - 1)};  // no NaN: a zero of the other sign, as ml_dtypes has it
}

}  // namespace

llvm::Value* Emitter::convert(DType from, DType to, Value* x) {
  if (from == to) return x;
  if (is_narrow_float(from)) {
    x = to_wide(from, x);
    from = DType::kF32;
    if (to == from) return x;
  }
  if (is_pred(to)) {
    Value* zero = llvm::Constant::getNullValue(x->getType());
    return is_float(from) ? b_.CreateFCmpUNE(x, zero) : b_.CreateICmpNE(x, zero);
  }
  if (is_float(from) && is_integer(to)) return float_to_int(to, x);
  if (!is_float(to)) return int_to_int(from, to, x);
  // To a float; what lies between must not round twice.
  const bool narrow = is_narrow_float(to);
  const DType via = !narrow ? to : is_float(from) || bit_width(from) <= 16 ? DType::kF32 : DType::kF64;
  if (!is_float(from)) {
    Type* type = like(scalar_type(via), x);
    x = is_signed(from) ? b_.CreateSIToFP(x, type) : b_.CreateUIToFP(x, type);
    from = via;
  }
  if (!narrow) return b_.CreateFPCast(x, like(scalar_type(to), x));
  if (from == DType::kF64) x = round_to_odd(x);
  return from_wide(to, x);
}

llvm::Value* Emitter::float_to_int(DType to, Value* x) {
  Type* exact = like(b_.getIntNTy(bit_width(to)), x);
  const auto id = is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  Value* v = b_.CreateIntrinsic(id, {exact, x->getType()}, {x});
  Type* type = like(scalar_type(to), x);
  return is_signed(to) ? b_.CreateSExt(v, type) : b_.CreateZExt(v, type);
}

// Sub-byte integers live in bytes, extended from their own width.
llvm::Value* Emitter::int_to_int(DType from, DType to, Value* x) {
  x = b_.CreateIntCast(x, like(scalar_type(to), x), is_signed(from));
  const int width = bit_width(to);
  if (width >= 8) return x;
  if (is_unsigned(to)) return b_.CreateAnd(x, splat_int(x, ones(width), 8));
  Value* amount = splat_int(x, 8 - width, 8);
  return b_.CreateAShr(b_.CreateShl(x, amount), amount);
}

llvm::Value* Emitter::bitcast(DType from, DType to, Value* x) {
  if (is_pred(from)) x = b_.CreateZExt(x, like(b_.getInt8Ty(), x));
  if (is_pred(to)) return b_.CreateTrunc(x, like(b_.getInt1Ty(), x));
  Type* type = like(scalar_type(to), x);
  if (x->getType() != type) x = b_.CreateBitCast(x, type);
  return bit_width(to) < 8 && is_integer(to) ? int_to_int(to, to, x) : x;
}

llvm::Value* Emitter::to_wide(DType from, Value* x) {
  Type* f32 = like(b_.getFloatTy(), x);
  if (from == DType::kF16 && options_.half_floats)
    return b_.CreateFPExt(b_.CreateBitCast(x, like(b_.getHalfTy(), x)), f32);
  if (from == DType::kBF16) {
    Value* bits = b_.CreateZExt(x, like(b_.getInt32Ty(), x));
    return b_.CreateBitCast(b_.CreateShl(bits, splat_int(x, 16, 32)), f32);
  }
  return from == DType::kF8E8M0FNU ? decode_e8m0(x) : decode_small(info(from), x);
}

llvm::Value* Emitter::from_wide(DType to, Value* x) {
  if (to == DType::kF16 && options_.half_floats)
    return b_.CreateBitCast(b_.CreateFPTrunc(x, like(b_.getHalfTy(), x)), like(b_.getInt16Ty(), x));
  if (to == DType::kF8E8M0FNU) return encode_e8m0(x);
  if (to != DType::kBF16) return encode_small(info(to), x);
  Value* bits = b_.CreateBitCast(x, like(b_.getInt32Ty(), x));
  auto number = [&](uint64_t n) { return splat_int(x, n, 32); };
  Value* upper = b_.CreateLShr(bits, number(16));
  Value* even = b_.CreateAnd(upper, number(1));
  Value* rounded = b_.CreateLShr(b_.CreateAdd(b_.CreateAdd(bits, number(0x7fff)), even), number(16));
  Value* quiet = b_.CreateOr(upper, number(0x40));
  return b_.CreateTrunc(b_.CreateSelect(b_.CreateFCmpUNO(x, x), quiet, rounded), like(b_.getInt16Ty(), x));
}

// The f32 next to x whose last bit is set, unless x is an f32: a narrower format then rounds it as it would
// round x.
llvm::Value* Emitter::round_to_odd(Value* x) {
  Value* nearest = b_.CreateFPTrunc(x, like(b_.getFloatTy(), x));
  Value* back = b_.CreateFPExt(nearest, x->getType());
  Value* too_big = b_.CreateFCmpOGT(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                    b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x));
  Value* inexact = b_.CreateFCmpONE(back, x);
  Type* i32 = like(b_.getInt32Ty(), x);
  Value* bits = b_.CreateSub(b_.CreateBitCast(nearest, i32), b_.CreateZExt(too_big, i32));
  return b_.CreateBitCast(b_.CreateOr(bits, b_.CreateZExt(inexact, i32)), nearest->getType());
}

llvm::Value* Emitter::decode_small(const DTypeInfo& f, Value* x) {
  const int m = f.mantissa_bits;
  auto number = [&](uint64_t n) { return splat_int(x, n, 32); };
  auto as_float = [&](Value* v) { return b_.CreateBitCast(v, like(b_.getFloatTy(), x)); };
  Value* bits = b_.CreateZExt(x, like(b_.getInt32Ty(), x));
  Value* magnitude = b_.CreateAnd(bits, number(ones(f.bits - 1)));
  Value* sign = b_.CreateShl(b_.CreateAnd(bits, number(uint64_t{1} << (f.bits - 1))), number(32 - f.bits));
  Value* aligned = b_.CreateShl(magnitude, number(23 - m));
  Value* result = b_.CreateAdd(aligned, number(static_cast<uint64_t>(127 - f.exponent_bias) << 23));
  Value* unit = as_float(number(static_cast<uint64_t>(127 + 1 - f.exponent_bias - m) << 23));
  Value* denormal = b_.CreateFMul(b_.CreateUIToFP(magnitude, unit->getType()), unit);
  result = b_.CreateSelect(b_.CreateICmpULT(magnitude, number(uint64_t{1} << m)),
                           b_.CreateBitCast(denormal, aligned->getType()), result);
  if (f.style == FloatStyle::kIeee) {
    const uint64_t top = ones(f.exponent_bits) << m;
    Value* special = b_.CreateOr(b_.CreateAnd(aligned, number(ones(23))), number(kInfinity));
    result = b_.CreateSelect(b_.CreateICmpUGE(magnitude, number(top)), special, result);
  } else if (f.style == FloatStyle::kFn && f.has_nan) {
    result = b_.CreateSelect(b_.CreateICmpEQ(magnitude, number(ones(f.bits - 1))), number(kQuietNan), result);
  }
  result = b_.CreateOr(result, sign);
  if (f.style == FloatStyle::kFnuz)
    result = b_.CreateSelect(b_.CreateICmpEQ(bits, number(uint64_t{1} << (f.bits - 1))), number(kQuietNan),
                             result);
  return as_float(result);
}

llvm::Value* Emitter::encode_small(const DTypeInfo& f, Value* x) {
  const int shift = 23 - f.mantissa_bits;
  const SpecialBits special = special_bits(f);
  auto number = [&](uint64_t n) { return splat_int(x, n, 32); };
  Type* i32 = like(b_.getInt32Ty(), x);
  Value* bits = b_.CreateBitCast(x, i32);
  Value* magnitude = b_.CreateAnd(bits, number(ones(31)));
  // Normal: half to even on the f32's bits; a carry runs into the exponent by itself.
  Value* even = b_.CreateAnd(b_.CreateLShr(magnitude, number(shift)), number(1));
  Value* rounded = b_.CreateAdd(b_.CreateAdd(magnitude, number(ones(shift - 1))), even);
  Value* normal = b_.CreateSub(b_.CreateLShr(rounded, number(shift)),
                               number(static_cast<uint64_t>(127 - f.exponent_bias) << f.mantissa_bits));
  // Denormal: adding a power of two whose last place is the format's smallest number rounds likewise.
  Value* anchor = number(static_cast<uint64_t>(127 + 24 - f.exponent_bias - f.mantissa_bits) << 23);
  Value* sum =
      b_.CreateFAdd(b_.CreateBitCast(magnitude, x->getType()), b_.CreateBitCast(anchor, x->getType()));
  Value* denormal = b_.CreateSub(b_.CreateBitCast(sum, i32), anchor);
  Value* is_denormal =
      b_.CreateICmpULT(magnitude, number(static_cast<uint64_t>(128 - f.exponent_bias) << 23));
  Value* result = b_.CreateSelect(is_denormal, denormal, normal);
  result =
      b_.CreateSelect(b_.CreateICmpSGT(result, number(special.max_finite)), number(special.overflow), result);
  Value* is_nan = b_.CreateICmpUGT(magnitude, number(kInfinity));
  result = b_.CreateSelect(is_nan, number(special.nan), result);
  Value* sign = b_.CreateAnd(b_.CreateLShr(bits, number(32 - f.bits)), number(uint64_t{1} << (f.bits - 1)));
  if (f.style == FloatStyle::kFnuz) {
    Value* zero = b_.CreateICmpEQ(result, number(0));
    result = b_.CreateSelect(zero, result, b_.CreateOr(result, sign));
  } else {
    result = b_.CreateXor(result, sign);
  }
  return b_.CreateTrunc(result, like(scalar_type(f.dtype), x));
}

llvm::Value* Emitter::decode_e8m0(Value* x) {
  auto number = [&](uint64_t n) { return splat_int(x, n, 32); };
  Value* bits = b_.CreateZExt(x, like(b_.getInt32Ty(), x));
  Value* result = b_.CreateShl(bits, number(23));
  result = b_.CreateSelect(b_.CreateICmpEQ(bits, number(0)), number(0x400000), result);
  result = b_.CreateSelect(b_.CreateICmpEQ(bits, number(0xff)), number(kQuietNan), result);
  return b_.CreateBitCast(result, like(b_.getFloatTy(), x));
}

// Half-way is 1.5 times a power of two and goes up; there is no sign, zero or infinity.
llvm::Value* Emitter::encode_e8m0(Value* x) {
  auto number = [&](uint64_t n) { return splat_int(x, n, 32); };
  Value* bits = b_.CreateBitCast(x, like(b_.getInt32Ty(), x));
  Value* rounded = b_.CreateLShr(b_.CreateAdd(bits, number(0x400000)), number(23));
  Value* smallest = b_.CreateZExt(b_.CreateICmpUGE(bits, number(0x600000)), bits->getType());
  Value* result = b_.CreateSelect(b_.CreateICmpULT(bits, number(0x800000)), smallest, rounded);
  Value* none = b_.CreateOr(b_.CreateICmpEQ(bits, number(0)),
                            b_.CreateICmpUGE(bits, number(kInfinity)));  // negative ones too
  result = b_.CreateSelect(none, number(0xff), result);
  return b_.CreateTrunc(result, like(b_.getInt8Ty(), x));
}

}  // namespace armillary::cpu
