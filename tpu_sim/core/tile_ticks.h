// A fused loop on a device: how long each unit takes for one of its tiles.
#pragma once

#include "tpu_sim/core/tile_loop.h"
#include "tpu_sim/isa.h"
#include "tpu_sim/spec/device.h"

namespace armillary::sim {

struct TileTicks {
  Tick launch = 0;  // once: until the core begins
  Tick fill = 0;    // once: until the matrix units give their first sum, and a tile has passed all stages
  Tick prologue = 0, epilogue = 0;  // once, at the memory
  Tick in = 0, out = 0;             // at the memory
  Tick matrix = 0, vector = 0, transpose = 0, load_store = 0;
  Tick step = 0;     // of the core from tile to tile: hidden behind DMAs, but behind no unit
  Tick latency = 0;  // of each DMA
};

// Throws a user error on a loop that cannot be: negative work, tiles larger than VMEM.
TileTicks tile_ticks(const FusedLoop& loop, const Device& device);

// Without launch, fill, prologue and epilogue.
TileLoop pipeline_of(const FusedLoop& loop, const TileTicks& ticks);

}  // namespace armillary::sim
