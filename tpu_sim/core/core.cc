#include "tpu_sim/core/core.h"

#include <algorithm>

#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr int64_t kMostTiles = 1 << 24;

// The units work on a tile side by side; all of them have to be done with it before its buffers change hands.
class TileRun {
 public:
  TileRun(const FusedLoop& loop, const TileTicks& ticks, Dma& dma, std::array<Server, kNumUnits>& units)
      : loop_(loop), t_(ticks), pipeline_(pipeline_of(loop, ticks)), dma_(dma), units_(units) {}

  Tick operator()(Tick start) {
    Tick done = start, left = start;
    if (t_.prologue > 0) left = dma_.issue(t_.prologue, start);
    for (int i = 0; i < loop_.buffers; ++i) ask(start);
    for (int64_t tile = 0; tile < loop_.tiles; ++tile) {
      done = work(std::max(arrived_[tile], free_out(tile)));
      left = transfer(t_.out, done);
      left_.push_back(left);
      ask(done);
    }
    return t_.epilogue > 0 ? dma_.issue(t_.epilogue, done) : left;
  }

 private:
  // A loop that never touches HBM waits for no DMA.
  Tick transfer(Tick ticks, Tick now) { return t_.latency > 0 || ticks > 0 ? dma_.issue(ticks, now) : now; }

  void ask(Tick now) {
    if (static_cast<int64_t>(arrived_.size()) < loop_.tiles) arrived_.push_back(transfer(t_.in, now));
  }

  Tick free_out(int64_t tile) const { return tile < loop_.buffers ? 0 : left_[tile - loop_.buffers]; }

  Tick work(Tick ready) {
    Tick done = 0;
    for (int i = 0; i < kNumUnits; ++i) done = std::max(done, units_[i].issue(pipeline_.work[i], ready));
    return done;
  }

  const FusedLoop& loop_;
  const TileTicks& t_;
  const TileLoop pipeline_;
  Dma& dma_;
  std::array<Server, kNumUnits>& units_;
  std::vector<Tick> arrived_, left_;  // of each tile
};

}  // namespace

Tick Core::issue(const FusedLoop& loop, Tick now) {
  if (loop.tiles > kMostTiles) throw user_error("{} tiles one by one: at most {}", loop.tiles, kMostTiles);
  const TileTicks ticks = tile_ticks(loop, device_);
  loop_time(pipeline_of(loop, ticks));  // refuses what cannot be
  const Tick start = core_.ready(now) + ticks.launch + ticks.fill;
  const Tick end = TileRun(loop, ticks, dma_, units_)(start);
  core_.issue(end - core_.ready(now), now);
  return end;
}

}  // namespace armillary::sim
