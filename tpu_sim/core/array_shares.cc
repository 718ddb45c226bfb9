#include "tpu_sim/core/array_shares.h"

#include <algorithm>

#include "tpu_sim/core/units.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr int64_t kLargest = int64_t{1} << 30;

}  // namespace

ArrayShares array_shares(const Chip& chip, int64_t vectors, int64_t cycles_per_vector, double non_matrix) {
  if (!(non_matrix >= 0 && non_matrix <= 1)) {
    throw user_error("the share of non-matrix cycles is {}, but must be from 0 to 1", non_matrix);
  }
  if (vectors < 1 || vectors > kLargest || cycles_per_vector < 1 || cycles_per_vector > kLargest) {
    throw user_error("{} vectors of {} cycles, but there must be from 1 to {} of either", vectors,
                     cycles_per_vector, kLargest);
  }
  const Device device(chip);
  const double row = device.ticks_per_row(DType::kS8);
  const double weights = static_cast<double>(hbm_ticks(device.mxu_rows * device.mxu_cols, 0, device));
  const double shift = static_cast<double>(device.mxu_rows) * row;
  const double active = static_cast<double>(vectors) * static_cast<double>(cycles_per_vector) * row;
  // The next tile of weights comes while this one shifts in and works.
  const double tile = std::max(weights, shift + active), matrix = 1 - non_matrix;
  return {matrix * active / tile, matrix * shift / tile, matrix * (tile - shift - active) / tile, non_matrix};
}

}  // namespace armillary::sim
