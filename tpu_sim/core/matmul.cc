// How a matrix product is cut into blocks that pass through VMEM.
#include <algorithm>
#include <array>

#include "tpu_sim/core/price.h"
#include "tpu_sim/isa.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

// Into how many parts a dimension may be cut.
constexpr std::array<int64_t, 20> kParts = {1,  2,  3,  4,   6,   8,   12,   16,   24,   32,
                                            48, 64, 96, 128, 256, 512, 1024, 2048, 4096, 1 << 14};

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t bits_of(DType dtype) { return is_pred(dtype) ? 8 : bit_width(dtype); }

// Extents of the padded product.
struct Padded {
  int64_t m, n, k;
};

constexpr int64_t kLargestExtent = int64_t{1} << 32;

Padded pad(const Matmul& p) {
  for (int64_t extent : {p.m, p.n, p.k, p.batch}) {
    if (extent < 1 || extent > kLargestExtent) {
      throw user_error("a product of {} x {} x {} x {}: extents must be from 1 to {}", p.batch, p.m, p.n, p.k,
                       kLargestExtent);
    }
  }
  const int64_t sublanes = std::max(hardware_tile(p.operand).sublanes, hardware_tile(p.result).sublanes);
  return {round_up(p.m, sublanes), round_up(p.n, kLanes), round_up(p.k, kLanes)};
}

int64_t block_of(int64_t extent, int64_t parts, int64_t multiple) {
  return std::min(extent, round_up(ceil_div(extent, parts), multiple));
}

// Sizes of everything that moves, in bytes.
struct Traffic {
  int64_t a_block, b_block, c_block;
  int64_t rows, columns, depth;  // numbers of blocks
  bool b_stays;                  // the block of B is kept while A passes; else the other way round

  int64_t tiles() const { return rows * columns * depth; }
  int64_t vmem(int buffers) const { return buffers * (a_block + b_block + c_block); }
};

Traffic traffic_of(const Matmul& p, const MatmulBlocks& b) {
  const Padded e = pad(p);
  Traffic t{};
  t.a_block = b.m * b.k * bits_of(p.operand) / 8;
  t.b_block = b.k * b.n * bits_of(p.operand) / 8;
  // Sums over several steps are kept in 32 bits.
  t.rows = ceil_div(e.m, b.m), t.columns = ceil_div(e.n, b.n), t.depth = ceil_div(e.k, b.k);
  t.c_block = b.m * b.n * (t.depth > 1 ? std::max<int64_t>(32, bits_of(p.result)) : bits_of(p.result)) / 8;
  t.b_stays = t.depth == 1 && t.a_block * (t.columns - 1) * t.rows < t.b_block * (t.rows - 1) * t.columns;
  return t;
}

Price price_of(const Matmul& matmul, const MatmulBlocks& blocks, const Device& device) {
  FusedLoop loop = matmul_loop(matmul, blocks);
  loop.vmem_bytes = 0;
  return price(loop, device);
}

}  // namespace

FusedLoop matmul_loop(const Matmul& p, const MatmulBlocks& b) {
  const Traffic t = traffic_of(p, b);
  FusedLoop loop;
  loop.tiles = t.tiles() * p.batch;
  loop.vmem_bytes = t.vmem(loop.buffers);
  // The kept operand comes once for each of its blocks, the other one with every tile.
  const bool a_kept = t.depth == 1 && !t.b_stays;
  const int64_t kept = t.depth > 1 ? 0 : a_kept ? t.a_block : t.b_block;
  const int64_t blocks_kept = a_kept ? t.rows : t.columns;
  const int64_t passing = t.depth > 1 ? t.a_block + t.b_block : a_kept ? t.b_block : t.a_block;
  // The first kept block must be there before the first tile; the others come in beside earlier tiles.
  loop.prologue_bytes = kept;
  loop.tile.bytes_in = passing + ceil_div(kept * (blocks_kept * p.batch - 1), loop.tiles);
  loop.tile.bytes_out = ceil_div(b.m * b.n * bits_of(p.result) / 8, t.depth);
  loop.tile.matrix = {{.m = b.m, .n = b.n, .k = b.k, .type = p.operand, .passes = p.passes}};
  return loop;
}

MatmulBlocks choose_blocks(const Matmul& p, const Chip& chip) {
  const Device device(chip);
  const Padded e = pad(p);
  const int64_t budget = p.vmem_budget > 0 ? std::min(p.vmem_budget, device.vmem_bytes) : device.vmem_bytes;
  const int64_t sublanes = std::max(hardware_tile(p.operand).sublanes, hardware_tile(p.result).sublanes);
  MatmulBlocks best{};
  Tick least = 0;
  for (int64_t depth : kParts) {
    for (int64_t rows : kParts) {
      if (rows > 1 && rows * sublanes > e.m) break;
      for (int64_t columns : kParts) {
        if (columns > 1 && columns * kLanes > e.n) break;
        const MatmulBlocks b{block_of(e.m, rows, sublanes), block_of(e.n, columns, kLanes),
                             block_of(e.k, depth, kLanes)};
        if (traffic_of(p, b).vmem(2) > budget) continue;
        const Tick ticks = price_of(p, b, device).duration;
        if (best.m == 0 || ticks < least) best = b, least = ticks;
      }
    }
    // Sums over several steps cost more than smaller blocks, where those fit.
    if (best.m != 0) return best;
  }
  throw user_error("no block of a product of {} x {} x {} fits {} bytes of VMEM", p.m, p.n, p.k, budget);
}

}  // namespace armillary::sim
