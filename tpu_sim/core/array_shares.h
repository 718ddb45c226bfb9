// Where the cycles of a weight-stationary array go when its weights come from memory: how Jouppi et al. (ISCA
// 2017, table 3) count for the first TPU.
#pragma once

#include <cstdint>

#include "tpu_sim/spec/chip.h"

namespace armillary::sim {

// Of all cycles; they add up to 1.
struct ArrayShares {
  double active = 0;      // vectors stream through the array
  double shift = 0;       // weights move from the FIFO into the array
  double stall = 0;       // weights have not come from memory yet
  double non_matrix = 0;  // given
};

// A fully connected layer: `vectors` stream through each tile of weights, each taking `cycles_per_vector` (on
// v1: 1 for 8 bits, 2 for 8 x 16, 4 for 16). Throws a user error on a share of non-matrix cycles outside [0,
// 1], or fewer than one vector or cycle.
ArrayShares array_shares(const Chip& chip, int64_t vectors, int64_t cycles_per_vector, double non_matrix);

}  // namespace armillary::sim
