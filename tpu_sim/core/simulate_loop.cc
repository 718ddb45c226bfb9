// The event run of a tile loop: servers with one job at a time, joined by counted buffers.
#include <array>
#include <queue>
#include <vector>

#include "tpu_sim/core/tile_loop.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

class LoopSimulation {
 public:
  explicit LoopSimulation(const TileLoop& loop) : loop_(loop), pending_(loop.tiles, kNumUnits) {}

  int64_t run() {
    for (int i = 0; i < loop_.buffers; ++i) ask_for_next_tile();
    start_what_can();
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      finish(event.what);
      start_what_can();
    }
    ARM_CHECK(out_of_here_ == loop_.tiles);
    return now_;
  }

 private:
  // Ends of work on the units, of service by the memory, and of transfers, which are over later.
  enum What { kFirstUnit, kMemory = kNumUnits, kArrived, kLeft };
  struct Event {
    int64_t at;
    int64_t order;
    int what;

    bool operator<(const Event& o) const { return at != o.at ? at > o.at : order > o.order; }
  };

  void push(int64_t at, int what) { events_.push({at, order_++, what}); }

  void ask_for_next_tile() {
    if (asked_ == loop_.tiles) return;
    ++asked_;
    queue_.push(kArrived);
  }

  bool may_start(int unit) const {
    if (busy_[unit] || done_[unit] == loop_.tiles) return false;
    // The first unit to reach a tile takes its buffer for the result.
    return done_[unit] < arrived_ && (done_[unit] < begun_ || begun_ - out_of_here_ < loop_.buffers);
  }

  void start_what_can() {
    for (int unit = 0; unit < kNumUnits; ++unit) {
      if (!may_start(unit)) continue;
      busy_[unit] = true;
      if (done_[unit] == begun_) ++begun_;
      push(now_ + loop_.work[unit], unit);
    }
    if (busy_[kMemory] || queue_.empty()) return;
    busy_[kMemory] = true;
    push(now_ + (queue_.front() == kArrived ? loop_.dma_in : loop_.dma_out), kMemory);
  }

  void finish(int what) {
    if (what == kArrived) ++arrived_;
    if (what == kLeft) ++out_of_here_;
    if (what > kMemory) return;
    busy_[what] = false;
    if (what == kMemory) {
      push(now_ + loop_.latency, queue_.front());
      queue_.pop();
    } else if (--pending_[done_[what]++] == 0) {
      queue_.push(kLeft);
      ask_for_next_tile();
    }
  }

  const TileLoop& loop_;
  std::vector<int> pending_;                   // units that have not finished each tile
  std::array<bool, kNumUnits + 1> busy_ = {};  // units, and the memory
  std::array<int64_t, kNumUnits> done_ = {};   // tiles that each unit has finished
  std::queue<int> queue_;                      // transfers that the memory has to serve
  int64_t asked_ = 0, arrived_ = 0, begun_ = 0, out_of_here_ = 0;
  int64_t now_ = 0, order_ = 0;
  std::priority_queue<Event> events_;
};

}  // namespace

int64_t simulate_loop(const TileLoop& loop) {
  loop_time(loop);  // refuses what cannot be
  constexpr int64_t kMostTiles = 1 << 26;
  if (loop.tiles > kMostTiles)
    throw user_error("an event run of {} tiles: at most {}", loop.tiles, kMostTiles);
  return LoopSimulation(loop).run();
}

}  // namespace armillary::sim
