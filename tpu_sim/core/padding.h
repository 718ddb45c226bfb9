// What the hardware rounds arrays up to: the minor two dimensions fill whole registers of sublanes x lanes.
#pragma once

#include <cstdint>
#include <span>

#include "xla_core/shape/dtype.h"

namespace armillary::sim {

inline constexpr int64_t kLanes = 128;
inline constexpr int64_t kSublanes = 8;

struct HardwareTile {
  int64_t sublanes = kSublanes, lanes = kLanes;
};

// (8, 128) for 32 bits, (16, 128) for bf16, (32, 128) for 8 bits, (64, 128) for 4: narrower elements share a
// sublane. Wider ones are kept as parts of 32 bits, (8, 128) each. pred is kept as 8 bits.
HardwareTile hardware_tile(DType dtype);

constexpr int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Elements of an array, dimensions major to minor, with the last two rounded up to the hardware tile; those
// of one dimension, and scalars, fill whole rows of lanes in each register's sublane. Throws a user error on
// negative extents or if the result does not fit 64 bits.
int64_t padded_elements(std::span<const int64_t> dims, DType dtype);

// The same in bytes, narrow types packed.
int64_t padded_bytes(std::span<const int64_t> dims, DType dtype);

}  // namespace armillary::sim
