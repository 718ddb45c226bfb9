// bf16 and f16 in registers, and tables that turn any one-byte element into a wider type.
#pragma once

#include <bit>
#include <cstdint>

#include "xla_core/shape/dtype.h"

namespace armillary::native {

inline float bf16_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

inline uint16_t float_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return static_cast<uint16_t>((bits >> 16) | 0x40u);  // a NaN stays one
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

inline float f16_to_float(uint16_t half) {
  const uint32_t magnitude = (half & 0x7fffu) << 13;
  const uint32_t scaled = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  const uint32_t value = magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : scaled;
  return std::bit_cast<float>(value | (half & 0x8000u) << 16);
}

inline uint16_t float_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), sign = (bits >> 16) & 0x8000u,
                 magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
  if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // subnormal: adding 0.5 lets the adder round at 2^-24
    const float rounded = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(rounded) - 0x3f000000u));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

// Values of the 256 bytes of a one-byte dtype (f8 kinds, s8, u8, s4, u4, pred ...).
const float* byte_table_f32(DType dtype);
const uint32_t* byte_table_u32(DType dtype);  // integers and pred, sign-extended

}  // namespace armillary::native
