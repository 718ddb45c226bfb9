// Inside the builder only: how HLO element types map to the types arithmetic is done in.
#pragma once

#include <optional>

#include "xla_core/ops/tape.h"

namespace armillary {

// f16, bf16, f8, f4 -> f32; s1..s4 -> s32; u1..u4 -> u32; others themselves.
DType compute_dtype(DType dtype);
bool is_narrow_float(DType dtype);

// Node of HLO type `dtype` -> node of its compute type, and back (rounding, wrapping).
int32_t widen(TapeBuilder& b, int32_t node, DType dtype);
int32_t narrow(TapeBuilder& b, int32_t node, DType dtype);

// Bits of a kConst of real type `dtype`, zero-extended.
int64_t constant_bits(DType dtype, double value);
int64_t constant_bits_int(DType dtype, int64_t value);
// The value of an s64 kConst node.
std::optional<int64_t> index_value(const Tape& tape, int32_t node);

DType unsigned_of_width(int bits);
DType signed_of_width(int bits);

}  // namespace armillary
