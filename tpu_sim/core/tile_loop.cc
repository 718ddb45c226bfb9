#include "tpu_sim/core/tile_loop.h"

#include <algorithm>
#include <vector>

#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr std::array<std::string_view, kNumUnits> kNames = {"mxu", "vpu", "xlu", "load/store"};

// Below this a few stages of that many tiles cannot overflow.
constexpr int64_t kLargestTime = int64_t{1} << 57;
constexpr int kMostBuffers = 16;

void check_time(std::string_view name, int64_t time) {
  if (time < 0 || time > kLargestTime) {
    throw user_error("a tile loop's {} is {}, but must be from 0 to {}", name, time, kLargestTime);
  }
}

void check(const TileLoop& loop) {
  check_time("number of tiles", loop.tiles);
  check_time("dma in", loop.dma_in);
  check_time("dma out", loop.dma_out);
  check_time("latency", loop.latency);
  for (int i = 0; i < kNumUnits; ++i) check_time(kNames[i], loop.work[i]);
  if (loop.buffers < 1 || loop.buffers > kMostBuffers) {
    throw user_error("a tile loop has {} buffers, but must have from 1 to {}", loop.buffers, kMostBuffers);
  }
}

// The longest path through the loop's events. It begins as tile 0 comes in and is then, at any tile, either
// with the work or with the memory:
//   work i   -> work i+1      work
//   memory i -> memory i+1    out + in (in alone for the first `buffers`, which have nothing before them)
//   memory i -> work i        latency + work
//   work i   -> memory i+b    out + in, of the buffer that the work has freed
// All weights are constant, so that of the paths that advance by n tiles a longest one stays with the work,
// with the memory, or goes round and round between them, but for the first steps and the last.
class LongestPath {
 public:
  LongestPath(const TileLoop& loop, int64_t work)
      : n_(loop.tiles),
        b_(loop.buffers),
        in_(loop.dma_in),
        out_(loop.dma_out),
        latency_(loop.latency),
        work_(work),
        memory_(loop.dma_in + loop.dma_out),
        round_(loop.dma_in + loop.dma_out + loop.latency + work) {}

  __int128 operator()() const {
    // The outs of the last tiles have no ins between them; the path may join them early.
    __int128 longest = 0;
    for (int64_t last = std::max<int64_t>(0, n_ - b_); last < n_; ++last) {
      const __int128 outs = __int128{out_} * (n_ - last);
      longest = std::max(longest, to_work(last) + outs);
    }
    if (n_ > 0) longest = std::max(longest, to_memory(n_ - 1) + __int128{out_} * std::min(n_, b_));
    return longest + latency_;
  }

 private:
  // Until memory has served tile j, by memory alone: tiles beyond the first b_ wait for an out each.
  __int128 by_memory(int64_t j) const {
    return __int128{in_} * (j + 1) + __int128{out_} * std::max<int64_t>(0, j + 1 - b_);
  }

  // Longest path to the end of the work on tile j.
  __int128 to_work(int64_t j) const {
    __int128 longest = 0;
    for (int64_t first : ends_of(j)) {
      longest = std::max(longest, by_memory(first) + latency_ + work_ + advance(j - first));
    }
    return longest;
  }

  // Longest path until memory has served tile j.
  __int128 to_memory(int64_t j) const {
    __int128 longest = by_memory(j);
    for (int64_t before : ends_of(j - b_)) {
      longest = std::max(longest, to_work(before) + __int128{memory_} * (j - before - b_ + 1));
    }
    return longest;
  }

  // The tiles 0 to j, but for those in the middle of a long loop: where a path may change over.
  std::vector<int64_t> ends_of(int64_t j) const {
    std::vector<int64_t> tiles;
    for (int64_t i = 0; i <= std::min(j, 2 * b_); ++i) tiles.push_back(i);
    for (int64_t i = std::max(2 * b_ + 1, j - 2 * b_); i <= j; ++i) tiles.push_back(i);
    return tiles;
  }

  // From work to work, `tiles` further.
  __int128 advance(int64_t tiles) const {
    const int64_t rounds = tiles / b_;
    const __int128 rest = __int128{tiles % b_};
    __int128 longest = __int128{tiles} * work_;
    longest = std::max(longest, rounds * __int128{round_} + rest * std::max(work_, rounds ? memory_ : work_));
    if (rounds > 0) longest = std::max(longest, round_ + __int128{std::max(work_, memory_)} * (tiles - b_));
    return longest;
  }

  int64_t n_, b_, in_, out_, latency_, work_, memory_, round_;
};

// What each tile adds once the pipeline is full.
int64_t pace_of(const TileLoop& loop, int64_t work) {
  const int64_t memory = loop.dma_in + loop.dma_out;
  return std::max({work, memory, (work + memory + loop.latency) / loop.buffers});
}

}  // namespace

std::string_view to_string(Unit unit) { return kNames[static_cast<size_t>(unit)]; }

LoopTime loop_time(const TileLoop& loop) {
  check(loop);
  if (loop.tiles == 0) return {0, 0, 0, "nothing"};
  const auto slowest = std::ranges::max_element(loop.work);
  const __int128 total = LongestPath(loop, *slowest)();
  if (total > INT64_MAX) {
    throw user_error("a tile loop of {} tiles does not fit 64 bits", loop.tiles);
  }
  LoopTime time;
  const int64_t pace = pace_of(loop, *slowest);
  const std::string_view slowest_name = kNames[slowest - loop.work.begin()];
  time.bound = pace == *slowest ? slowest_name : pace == loop.dma_in + loop.dma_out ? "dma" : "latency";
  // One tile lasts longer than the pace; what is left over is the way in and out.
  time.steady = static_cast<int64_t>(std::min<__int128>(__int128{pace} * loop.tiles, total));
  const int64_t beside = static_cast<int64_t>(total) - time.steady;
  time.prologue = std::min(loop.dma_in + loop.latency, beside);
  time.epilogue = beside - time.prologue;
  return time;
}

}  // namespace armillary::sim
