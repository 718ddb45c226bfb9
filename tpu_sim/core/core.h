// One core and its memory as servers: runs a fused loop tile by tile. What price.h gives in closed form.
#pragma once

#include <array>
#include <vector>

#include "tpu_sim/core/tile_ticks.h"
#include "tpu_sim/core/units.h"

namespace armillary::sim {

// Transfers in the order in which they are asked for; each is over some time after the memory has served it.
class Dma {
 public:
  explicit Dma(const Device& device) : device_(device) {}

  Tick ready(Tick now) const { return memory_.ready(now); }
  // When the transfer is over, of so many ticks at the memory.
  Tick issue(Tick ticks, Tick now) { return memory_.issue(ticks, now) + device_.dma_latency; }
  Tick issue_bytes(int64_t bytes, int64_t run, Tick now) {
    return issue(hbm_ticks(bytes, run, device_), now);
  }
  Tick busy() const { return memory_.busy(); }

 private:
  const Device& device_;
  Server memory_;
};

class Core {
 public:
  // The device must outlive the core.
  explicit Core(const Device& device) : device_(device), dma_(device) {}

  // When the core is free for its next command.
  Tick ready(Tick now) const { return core_.ready(now); }
  // Runs a loop, tile by tile, and returns when its last byte is where it belongs.
  Tick issue(const FusedLoop& loop, Tick now);

  Dma& dma() { return dma_; }
  const Server& unit(Unit unit) const { return units_[static_cast<size_t>(unit)]; }

 private:
  const Device& device_;
  Server core_;
  Dma dma_;
  std::array<Server, kNumUnits> units_;
};

}  // namespace armillary::sim
