#include "tpu_sim/core/tile_loop.h"

#include <algorithm>

#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr std::array<std::string_view, kNumUnits> kNames = {"mxu", "vpu", "xlu", "load/store"};

// Below this three stages of that many tiles cannot overflow.
constexpr int64_t kLargestTime = int64_t{1} << 60;

void check_time(std::string_view name, int64_t time) {
  if (time < 0 || time > kLargestTime) {
    throw user_error("a tile loop's {} is {}, but must be from 0 to {}", name, time, kLargestTime);
  }
}

void check(const TileLoop& loop) {
  check_time("number of tiles", loop.tiles);
  check_time("dma in", loop.dma_in);
  check_time("dma out", loop.dma_out);
  for (int i = 0; i < kNumUnits; ++i) check_time(kNames[i], loop.work[i]);
}

// What follows within a tile: three stages on three servers, each slowed to the pace of the slowest.
struct Pace {
  int64_t per_tile;
  std::string_view bound;
};

Pace pace_of(const TileLoop& loop, int64_t work, std::string_view unit) {
  const int64_t dma = std::max(loop.dma_in, loop.dma_out);
  const std::string_view dma_name = loop.dma_in >= loop.dma_out ? "dma in" : "dma out";
  const std::string_view bound = work >= dma ? unit : dma_name;
  // With one buffer each the work waits for the buffers, and they for the work.
  return {loop.double_buffered ? std::max(work, dma) : work + dma, bound};
}

}  // namespace

std::string_view to_string(Unit unit) { return kNames[static_cast<size_t>(unit)]; }

LoopTime loop_time(const TileLoop& loop) {
  check(loop);
  if (loop.tiles == 0) return {0, 0, 0, "nothing"};
  const auto slowest = std::ranges::max_element(loop.work);
  const Pace pace = pace_of(loop, *slowest, kNames[slowest - loop.work.begin()]);
  LoopTime time;
  time.bound = pace.bound;
  // One tile passes all stages; the other n-1 follow at the pace of the slowest.
  const int64_t beside = loop.dma_in + *slowest + loop.dma_out - pace.per_tile;
  time.prologue = std::min(loop.dma_in, beside);
  time.epilogue = beside - time.prologue;
  int64_t total = 0;
  if (__builtin_mul_overflow(loop.tiles, pace.per_tile, &time.steady) ||
      __builtin_add_overflow(time.steady, beside, &total)) {
    throw user_error("a tile loop of {} tiles at {} each does not fit 64 bits", loop.tiles, pace.per_tile);
  }
  return time;
}

}  // namespace armillary::sim
