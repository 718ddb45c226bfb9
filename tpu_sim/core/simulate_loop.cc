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
  explicit LoopSimulation(const TileLoop& loop)
      : loop_(loop),
        buffers_(loop.double_buffered ? 2 : 1),
        pending_(loop.tiles, kNumUnits),
        free_in_(buffers_),
        free_out_(buffers_) {}

  int64_t run() {
    start_what_can();
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      finish(event.server);
      start_what_can();
    }
    ARM_CHECK(done_[kOut] == loop_.tiles);
    return now_;
  }

 private:
  enum Server { kIn, kFirstUnit, kOut = kFirstUnit + kNumUnits, kServers };
  struct Event {
    int64_t at;
    int server;

    bool operator<(const Event& o) const { return at != o.at ? at > o.at : server > o.server; }
  };

  int64_t time_of(int server) const {
    return server == kIn ? loop_.dma_in : server == kOut ? loop_.dma_out : loop_.work[server - kFirstUnit];
  }

  bool may_start(int server) const {
    if (busy_[server] || done_[server] == loop_.tiles) return false;
    const int64_t tile = done_[server];
    if (server == kIn) return free_in_ > 0;
    if (server == kOut) return pending_[tile] == 0;
    // The first unit to reach a tile takes its buffer for the result.
    return tile < done_[kIn] && (tile < begun_ || free_out_ > 0);
  }

  void start_what_can() {
    for (int server = 0; server < kServers; ++server) {
      if (!may_start(server)) continue;
      busy_[server] = true;
      if (server == kIn) --free_in_;
      if (server != kIn && server != kOut && done_[server] == begun_) {
        ++begun_;
        --free_out_;
      }
      events_.push({now_ + time_of(server), server});
    }
  }

  void finish(int server) {
    busy_[server] = false;
    const int64_t tile = done_[server]++;
    if (server == kOut) {
      ++free_out_;
    } else if (server != kIn && --pending_[tile] == 0) {
      ++free_in_;  // all units have read the tile
    }
  }

  const TileLoop& loop_;
  const int buffers_;
  std::vector<int> pending_;  // units that have not finished each tile
  int64_t free_in_, free_out_;
  std::array<bool, kServers> busy_ = {};
  std::array<int64_t, kServers> done_ = {};  // tiles that each server has finished
  int64_t begun_ = 0;                        // tiles that have a result buffer
  int64_t now_ = 0;
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
