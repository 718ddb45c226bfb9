// The loop every fused operation runs on a chip: bring a tile in, work on it, take the result out, all at
// once; what comes in and what goes out share the memory.
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
//
// Memory serves transfers one at a time, in the order in which the program asks for them: the first `buffers`
// tiles in; then, as the work on tile i ends, tile i out and tile i + buffers in. A transfer is over
// `latency` after the memory has served it.
struct TileLoop {
  int64_t tiles = 0;
  int64_t dma_in = 0;
  std::array<int64_t, kNumUnits> work = {};
  int64_t dma_out = 0;
  int64_t latency = 0;
  int buffers = 2;  // for tiles in, and as many for tiles out
};

struct LoopTime {
  int64_t prologue = 0;    // until the first tile can be worked on
  int64_t steady = 0;      // tiles x the pace of the slowest
  int64_t epilogue = 0;    // what else it takes until the last result is in memory
  std::string_view bound;  // "dma" (in and out), "latency", or the unit that the loop waits for

  int64_t total() const { return prologue + steady + epilogue; }
};

// Closed form. Throws a user error on negative times, or if the total does not fit 64 bits.
LoopTime loop_time(const TileLoop& loop);

// The same loop as tokens that wait for tiles, buffers and servers, one event at a time.
int64_t simulate_loop(const TileLoop& loop);

}  // namespace armillary::sim
