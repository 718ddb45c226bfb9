// Columns: a run of scalars in the two forms the interpreter computes with, and their way from and to memory.
//
// Every float is held as a double that the dtype can represent (so f32 arithmetic is double arithmetic,
// rounded: exact by Figueroa's theorem for + - * / sqrt), every integer and pred as an int64 that is already
// wrapped (u64 by its bits).
#pragma once

#include <cstddef>
#include <cstdint>

#include "xla_core/shape/literal.h"

namespace armillary {

union Lane {
  double f;
  int64_t i;
};

// Memory that lanes are read from: `count` elements of `dtype`. A splat has one element for every lane.
struct ArrayView {
  const std::byte* data = nullptr;
  DType dtype = DType::kInvalid;
  int64_t count = 0;
  bool splat = false;
  static ArrayView of(const Literal& literal);
};

// out[k] = part (0 re or whole, 1 im) of element begin + k, or of element index[k].i when index is given.
void read_lanes(const ArrayView& from, int part, int64_t begin, const Lane* index, int64_t count, Lane* out);

// Element begin + k = re[k] (+ im[k] i); values must be in range of the dtype already.
void write_lanes(DType dtype, std::byte* to, int64_t begin, int64_t count, const Lane* re, const Lane* im);

// The nearest value the dtype holds: floats are rounded, integers wrapped.
double round_to(DType dtype, double value);
int64_t wrap_to(DType dtype, int64_t value);

// wrap_to for a loop: the dtype is looked at once.
struct Wrapper {
  int unused;
  bool is_signed;
  explicit Wrapper(DType dtype) : unused(64 - bit_width(dtype)), is_signed(armillary::is_signed(dtype)) {}
  int64_t operator()(uint64_t value) const {
    const uint64_t high = value << unused;
    return is_signed ? static_cast<int64_t>(high) >> unused : static_cast<int64_t>(high >> unused);
  }
};

// Bits of one lane, zero-extended, and back.
uint64_t lane_bits(DType dtype, Lane lane);
Lane lane_of_bits(DType dtype, uint64_t bits);

}  // namespace armillary
