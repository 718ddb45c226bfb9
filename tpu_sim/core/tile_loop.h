// The loop every fused operation runs on a chip: bring a tile in, work on it, take the result out, all at
// once.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace armillary::sim {

// The units that work on a tile side by side; the core issues to all of them in one bundle.
enum class Unit : uint8_t { kMxu, kVpu, kXlu, kLoadStore };
inline constexpr int kNumUnits = 4;

std::string_view to_string(Unit unit);

// Times are of one tile, in any unit of time that the caller likes.
struct TileLoop {
  int64_t tiles = 0;
  int64_t dma_in = 0;
  std::array<int64_t, kNumUnits> work = {};
  int64_t dma_out = 0;
  bool double_buffered = true;  // in and out; else a buffer is filled only when its last user is done
};

struct LoopTime {
  int64_t prologue = 0;    // filling the pipeline: the first tile's way in
  int64_t steady = 0;      // tiles x the slowest stage
  int64_t epilogue = 0;    // emptying it: what else the last tile passes besides the slowest stage
  std::string_view bound;  // "dma in", "dma out", or the unit that the loop waits for

  int64_t total() const { return prologue + steady + epilogue; }
};

// Closed form. Throws a user error on negative times, or if the total does not fit 64 bits.
LoopTime loop_time(const TileLoop& loop);

// The same loop as tokens that wait for tiles, buffers and servers, one event at a time.
int64_t simulate_loop(const TileLoop& loop);

}  // namespace armillary::sim
