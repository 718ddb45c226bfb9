// Every float format's bits <-> double. One rule for all of them, driven by the dtype's row; conversions
// agree with ml_dtypes.
#include <algorithm>
#include <bit>
#include <cmath>

#include "xla_core/shape/literal.h"

namespace armillary {
namespace {

constexpr uint64_t kDoubleMantissa = (uint64_t{1} << 52) - 1;

double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

uint64_t low_bits(int count) { return (uint64_t{1} << count) - 1; }

double decode_e8m0(uint64_t bits) {
  return bits == 0xff ? std::nan("") : power_of_two(static_cast<int>(bits) - 127);
}

uint64_t encode_e8m0(double value) {
  if (!(value > 0) || std::isinf(value)) return 0xff;  // no sign, no zero, no infinity: NaN
  int exponent = std::ilogb(value);
  // A significand of no stored bits is 1, or rounds to 2, which is even: ties go up.
  if (value >= 1.5 * std::ldexp(1.0, exponent)) ++exponent;
  if (exponent > 127) return 0xff;
  return static_cast<uint64_t>(std::max(exponent, -127) + 127);
}

// A NaN that keeps its sign and the top of its payload, so that NaNs survive decode and encode.
double decode_nan(const DTypeInfo& d, bool negative, uint64_t mantissa) {
  uint64_t payload = d.style == FloatStyle::kIeee ? mantissa << (52 - d.mantissa_bits) : uint64_t{1} << 51;
  return std::bit_cast<double>((uint64_t{negative} << 63) | (uint64_t{0x7ff} << 52) | payload);
}

uint64_t encode_nan(const DTypeInfo& d, uint64_t double_bits) {
  const uint64_t sign = (double_bits >> 63) << (d.bits - 1);
  if (!d.has_nan) return sign ^ (uint64_t{1} << (d.bits - 1));  // a zero; ml_dtypes flips its sign
  if (d.style == FloatStyle::kFnuz) return uint64_t{1} << (d.bits - 1);
  if (d.style == FloatStyle::kFn) return sign | low_bits(d.bits - 1);
  uint64_t payload = (double_bits & kDoubleMantissa) >> (52 - d.mantissa_bits);
  if (payload == 0) payload = uint64_t{1} << (d.mantissa_bits - 1);
  return sign | (low_bits(d.exponent_bits) << d.mantissa_bits) | payload;
}

// The largest finite magnitude's bits.
uint64_t max_finite(const DTypeInfo& d) {
  const uint64_t all = low_bits(d.exponent_bits + d.mantissa_bits);
  if (d.style == FloatStyle::kIeee) return (low_bits(d.exponent_bits) << d.mantissa_bits) - 1;
  return d.style == FloatStyle::kFn && d.has_nan ? all - 1 : all;
}

uint64_t encode_overflow(const DTypeInfo& d, bool negative) {
  const uint64_t sign = uint64_t{negative} << (d.bits - 1);
  if (d.style == FloatStyle::kIeee) return sign | (low_bits(d.exponent_bits) << d.mantissa_bits);
  if (!d.has_nan) return sign | max_finite(d);
  return encode_nan(d, (uint64_t{negative} << 63) | (uint64_t{0xfff} << 51));
}

double decode_small(const DTypeInfo& d, uint64_t bits) {
  const bool negative = (bits >> (d.bits - 1)) & 1;
  const uint64_t mantissa = bits & low_bits(d.mantissa_bits);
  const int exponent = static_cast<int>((bits >> d.mantissa_bits) & low_bits(d.exponent_bits));
  const uint64_t magnitude = bits & low_bits(d.bits - 1);
  if (d.style == FloatStyle::kFnuz && negative && magnitude == 0) return decode_nan(d, false, 0);
  if (d.style == FloatStyle::kFn && d.has_nan && magnitude == low_bits(d.bits - 1))
    return decode_nan(d, negative, mantissa);
  if (d.style == FloatStyle::kIeee && exponent == static_cast<int>(low_bits(d.exponent_bits))) {
    if (mantissa != 0) return decode_nan(d, negative, mantissa);
    return negative ? -HUGE_VAL : HUGE_VAL;
  }
  const uint64_t significand = exponent == 0 ? mantissa : mantissa | (uint64_t{1} << d.mantissa_bits);
  const double value = static_cast<double>(significand) *
                       power_of_two(std::max(exponent, 1) - d.exponent_bias - d.mantissa_bits);
  return negative ? -value : value;
}

// Rounds half to even on the integer significand, so a carry runs into the exponent by itself.
uint64_t encode_small(const DTypeInfo& d, double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const bool negative = bits >> 63;
  const int double_exponent = static_cast<int>((bits >> 52) & 0x7ff);
  if (double_exponent == 0x7ff)
    return bits & kDoubleMantissa ? encode_nan(d, bits) : encode_overflow(d, negative);
  uint64_t magnitude = 0;
  const int exponent =
      double_exponent - 1023 + d.exponent_bias;  // biased for d; a double denormal is far below any d
  const int shift = 52 - d.mantissa_bits + (exponent < 1 ? 1 - exponent : 0);
  if (double_exponent != 0 && shift < 54) {
    const uint64_t significand = (bits & kDoubleMantissa) | (uint64_t{1} << 52);
    const uint64_t kept = significand >> shift, rest = significand & low_bits(shift),
                   half = uint64_t{1} << (shift - 1);
    magnitude = kept + (rest > half || (rest == half && (kept & 1)));
    if (exponent >= 1) magnitude += static_cast<uint64_t>(exponent - 1) << d.mantissa_bits;
  }
  if (magnitude > max_finite(d)) return encode_overflow(d, negative);
  if (magnitude == 0 && d.style == FloatStyle::kFnuz) return 0;
  return (uint64_t{negative} << (d.bits - 1)) | magnitude;
}

}  // namespace

double decode_float(DType dtype, uint64_t bits) {
  switch (dtype) {
    case DType::kF64:
      return std::bit_cast<double>(bits);
    case DType::kF32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case DType::kBF16:
      if ((bits & 0x7fff) > 0x7f80)
        return decode_small(info(dtype), bits);  // float -> double would quiet a signalling NaN
      return std::bit_cast<float>(static_cast<uint32_t>(bits << 16));
    case DType::kF8E8M0FNU:
      return decode_e8m0(bits);
    default:
      return decode_small(info(dtype), bits);
  }
}

uint64_t encode_float(DType dtype, double value) {
  switch (dtype) {
    case DType::kF64:
      return std::bit_cast<uint64_t>(value);
    case DType::kF32:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    case DType::kF8E8M0FNU:
      return encode_e8m0(value);
    default:
      return encode_small(info(dtype), value);
  }
}

}  // namespace armillary
