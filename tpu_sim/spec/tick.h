// The simulator's time.
#pragma once

#include <cmath>
#include <cstdint>

namespace armillary::sim {

using Tick = int64_t;  // picoseconds
inline constexpr double kTicksPerSecond = 1e12;

// A hundred days; sums of a few of them still fit.
inline constexpr double kLargestTick = 8.64e18 / 8;

}  // namespace armillary::sim
