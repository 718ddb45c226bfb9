#include "tpu_sim/core/tile_ticks.h"

#include <algorithm>

#include "tpu_sim/core/units.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr int64_t kLargestTiles = int64_t{1} << 40;
constexpr int64_t kMostStages = 1 << 20;
constexpr int64_t kLargestBytes = int64_t{1} << 60;

void check(std::string_view what, int64_t value, int64_t largest) {
  if (value < 0 || value > largest) {
    throw user_error("a fused loop's {} is {}, but must be from 0 to {}", what, value, largest);
  }
}

void check(const FusedLoop& loop, const Device& d) {
  check("number of tiles", loop.tiles, kLargestTiles);
  check("use of VMEM in bytes", loop.vmem_bytes, d.vmem_bytes);
  check("bytes in", loop.tile.bytes_in, kLargestBytes);
  check("bytes out", loop.tile.bytes_out, kLargestBytes);
  check("number of stages", loop.stages, kMostStages);
}

bool touches_hbm(const FusedLoop& loop) {
  return (loop.tile.bytes_in | loop.tile.bytes_out | loop.prologue_bytes | loop.epilogue_bytes) != 0;
}

}  // namespace

TileTicks tile_ticks(const FusedLoop& loop, const Device& d) {
  check(loop, d);
  const Tile& tile = loop.tile;
  TileTicks t;
  for (const MatrixWork& work : tile.matrix) {
    t.matrix = add_ticks(t.matrix, matrix_ticks(work, d));
    t.fill = std::max(t.fill, matrix_fill_ticks(work.type, d));
  }
  t.launch = d.op_launch;
  t.prologue = hbm_ticks(loop.prologue_bytes, 0, d);
  t.epilogue = hbm_ticks(loop.epilogue_bytes, 0, d);
  t.in = hbm_ticks(tile.bytes_in, tile.run_in, d);
  t.out = hbm_ticks(tile.bytes_out, tile.run_out, d);
  t.vector = vector_ticks(tile.vector, d);
  t.transpose = transpose_ticks(tile.transpose, d);
  t.load_store =
      load_store_ticks(tile.vmem_traffic != 0 ? tile.vmem_traffic : tile.bytes_in + tile.bytes_out, d);
  t.step = add_ticks(d.tile_step, scalar_ticks(tile.scalar_ops, d));
  t.latency = touches_hbm(loop) ? d.dma_latency : 0;
  if (loop.stages > 1 && loop.tiles > 0) {
    const Tick pace = add_ticks(std::max({t.matrix, t.vector, t.transpose, t.load_store}), t.step);
    t.fill = add_ticks(t.fill, multiply_ticks(pace, loop.stages - 1));
  }
  return t;
}

TileLoop pipeline_of(const FusedLoop& loop, const TileTicks& t) {
  return {.tiles = loop.tiles,
          .dma_in = t.in,
          .work = {t.matrix + t.step, t.vector + t.step, t.transpose + t.step, t.load_store + t.step},
          .dma_out = t.out,
          .latency = t.latency,
          .buffers = loop.buffers};
}

}  // namespace armillary::sim
