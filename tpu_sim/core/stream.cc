// How work that streams through VMEM is cut into tiles.
#include <algorithm>

#include "tpu_sim/core/price.h"
#include "tpu_sim/isa.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr int64_t kMostTiles = int64_t{1} << 30;

// A part of an amount; negative ones are left for the price to refuse.
int64_t part(int64_t whole, int64_t parts) { return whole / parts + (whole % parts > 0); }

Tile part_of(const Tile& whole, int64_t parts) {
  Tile tile = whole;
  for (int64_t* amount :
       {&tile.bytes_in, &tile.bytes_out, &tile.transpose.transposed, &tile.transpose.reduced,
        &tile.transpose.permuted, &tile.scalar_ops, &tile.vmem_traffic}) {
    *amount = part(*amount, parts);
  }
  for (int64_t& elements : tile.vector) elements = part(elements, parts);
  for (MatrixWork& work : tile.matrix) work.m = part(work.m, parts);
  return tile;
}

}  // namespace

FusedLoop stream_loop(const Tile& whole, const Chip& chip, int64_t vmem_budget) {
  const Device device(chip);
  const int64_t budget = vmem_budget > 0 ? std::min(vmem_budget, device.vmem_bytes) : device.vmem_bytes;
  FusedLoop best;
  Tick least = 0;
  for (int64_t tiles = 1; tiles <= kMostTiles; tiles *= 2) {
    FusedLoop loop{.tiles = tiles, .tile = part_of(whole, tiles)};
    const double bytes = static_cast<double>(loop.tile.bytes_in) + static_cast<double>(loop.tile.bytes_out);
    if (loop.buffers * bytes > static_cast<double>(budget)) continue;
    loop.vmem_bytes = static_cast<int64_t>(loop.buffers * bytes);
    const Tick ticks = price(loop, device).duration;
    if (least != 0 && ticks >= least) break;
    best = std::move(loop), least = ticks;
  }
  if (least == 0)
    throw user_error("no tile of {} + {} bytes fits {} bytes of VMEM", whole.bytes_in, whole.bytes_out,
                     budget);
  return best;
}

}  // namespace armillary::sim
