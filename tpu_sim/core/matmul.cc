// How a matrix product is cut into blocks that pass through VMEM.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tpu_sim/core/price.h"
#include "tpu_sim/core/units.h"
#include "tpu_sim/isa.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

// Into how many parts a dimension may be cut.
constexpr std::array<int64_t, 20> kParts = {1,  2,  3,  4,   6,   8,   12,   16,   24,   32,
                                            48, 64, 96, 128, 256, 512, 1024, 2048, 4096, 1 << 14};

// Assumed: a sum that is cut is read back and added to, so that short ones are left whole and no part is
// short.
constexpr int64_t kWholeSum = 2048, kShortestPart = 512;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t bits_of(DType dtype) { return is_pred(dtype) ? 8 : bit_width(dtype); }

// Extents of the padded product.
struct Padded {
  int64_t m, n, k;
};

constexpr int64_t kLargestExtent = int64_t{1} << 32;
constexpr double kLargestArray = 0x1p50;  // elements; padding and buffers stay below 2^63 bytes

Padded pad(const Matmul& p) {
  for (int64_t extent : {p.m, p.n, p.k, p.batch}) {
    if (extent < 1 || extent > kLargestExtent) {
      throw user_error("a product of {} x {} x {} x {}: extents must be from 1 to {}", p.batch, p.m, p.n, p.k,
                       kLargestExtent);
    }
  }
  for (const auto& [x, y] : {std::pair(p.m, p.k), {p.k, p.n}, {p.m, p.n}}) {
    if (static_cast<double>(p.batch) * static_cast<double>(x) * static_cast<double>(y) > kLargestArray) {
      throw user_error("a product of {} x {} x {} x {}: its arrays are larger than can be simulated", p.batch,
                       p.m, p.n, p.k);
    }
  }
  const int64_t sublanes = std::max(hardware_tile(p.operand).sublanes, hardware_tile(p.result).sublanes);
  return {round_up(p.m, sublanes), round_up(p.n, kLanes), round_up(p.k, kLanes)};
}

int64_t block_of(int64_t extent, int64_t parts, int64_t multiple) {
  return std::min(extent, round_up(ceil_div(extent, parts), multiple));
}

int64_t moved(double traffic, int64_t block) {
  return static_cast<int64_t>(std::ceil(traffic * static_cast<double>(block)));
}

// Blocks and how often each moves.
class Blocking {
 public:
  Blocking(const Matmul& product, const Padded& extents, const MatmulBlocks& blocks)
      : p_(product),
        b_(blocks),
        a_bytes_(b_.m * b_.k * bits_of(p_.operand) / 8),
        b_bytes_(b_.k * b_.n * bits_of(p_.operand) / 8),
        c_bytes_(b_.m * b_.n * bits_of(p_.result) / 8),
        a_moved_(moved(p_.a_traffic, a_bytes_)),
        b_moved_(moved(p_.b_traffic, b_bytes_)),
        rows_(ceil_div(extents.m, b_.m)),
        columns_(ceil_div(extents.n, b_.n)),
        depth_(ceil_div(extents.k, b_.k)) {}

  // Sums over several steps are kept in 32 bits.
  int64_t vmem(int buffers) const {
    const int64_t sums = depth_ > 1 ? std::max(c_bytes_, 4 * b_.m * b_.n) : c_bytes_;
    return buffers * b_.batch * (a_bytes_ + b_bytes_ + sums);
  }

  FusedLoop loop() const {
    FusedLoop loop;
    loop.vmem_bytes = vmem(loop.buffers);
    loop.tile.matrix = {work()};
    loop.tile.vmem_traffic = (a_bytes_ + b_bytes_ + c_bytes_) * b_.batch;
    set_traffic(loop);
    return loop;
  }

  // Less than the loop takes, or as much, and found without making it: the units alone, or the memory alone.
  double least_ticks(const Device& d) const {
    FusedLoop moved;  // without its work
    set_traffic(moved);
    const double n = static_cast<double>(tiles()), speed = d.hbm_bytes_per_tick;
    const double once = static_cast<double>(moved.tile.bytes_in + moved.tile.bytes_out) / speed;
    const double before = static_cast<double>(moved.prologue_bytes) / speed;
    const double tile = static_cast<double>(matrix_ticks(work(), d) + d.tile_step);
    const Tick latency = once + before > 0 ? d.dma_latency : 0;
    const double beside = static_cast<double>(d.op_launch + latency + matrix_fill_ticks(p_.operand, d));
    return beside + before + std::max(n * tile + once, n * once);
  }

 private:
  int64_t tiles() const { return rows_ * columns_ * depth_ * ceil_div(p_.batch, b_.batch); }

  MatrixWork work() const {
    return {.m = b_.m, .n = b_.n, .k = b_.k, .count = b_.batch, .type = p_.operand, .passes = p_.passes};
  }

  void set_traffic(FusedLoop& loop) const {
    loop.tiles = tiles();
    loop.tile.bytes_out = ceil_div(moved(p_.c_traffic, c_bytes_) * b_.batch, depth_);
    if (depth_ > 1 || rows_ * columns_ == 1) {
      loop.tile.bytes_in = (a_moved_ + b_moved_) * b_.batch;
    } else {
      keep_one_operand(loop);
    }
  }

  // One operand's block stays while the other's pass by. The first must be there before the first tile; the
  // others come in beside earlier tiles.
  void keep_one_operand(FusedLoop& loop) const {
    const int64_t a_once = a_moved_ * rows_, b_once = b_moved_ * columns_;
    const bool a_stays = a_once + b_once * rows_ <= b_once + a_once * columns_;
    const int64_t staying = a_stays ? a_moved_ : b_moved_, passing = a_stays ? b_moved_ : a_moved_;
    const int64_t times = (a_stays ? rows_ : columns_) * p_.batch;
    loop.prologue_bytes = staying;
    loop.tile.bytes_in = passing + ceil_div(staying * (times - 1), loop.tiles);
  }

  const Matmul& p_;
  const MatmulBlocks& b_;
  int64_t a_bytes_, b_bytes_, c_bytes_;  // of a block
  int64_t a_moved_, b_moved_;            // of those, what comes from HBM
  int64_t rows_, columns_, depth_;
};

// The best blocks with so many steps along k, if any fit.
class Search {
 public:
  Search(const Matmul& product, const Chip& chip)
      : p_(product),
        device_(chip),
        extents_(pad(product)),
        sublanes_(std::max(hardware_tile(p_.operand).sublanes, hardware_tile(p_.result).sublanes)),
        budget_(p_.vmem_budget > 0 ? std::min(p_.vmem_budget, device_.vmem_bytes) : device_.vmem_bytes) {}

  MatmulBlocks operator()() {
    const int64_t most = extents_.k <= kWholeSum ? 1 : extents_.k / kShortestPart;
    for (int64_t depth : kParts) {
      if (depth <= most) try_depth(depth);
    }
    if (least_ == 0) {
      throw user_error("no block of a product of {} x {} x {} fits {} bytes of VMEM", p_.m, p_.n, p_.k,
                       budget_);
    }
    return best_;
  }

 private:
  void try_depth(int64_t depth) {
    const int64_t k = block_of(extents_.k, depth, kLanes);
    for (int64_t rows : kParts) {
      if (rows > 1 && rows * sublanes_ > extents_.m) break;
      for (int64_t columns : kParts) {
        if (columns > 1 && columns * kLanes > extents_.n) break;
        consider({block_of(extents_.m, rows, sublanes_), block_of(extents_.n, columns, kLanes), k});
      }
    }
    if (depth > 1) return;
    // Small products: several of a batch in one tile.
    for (int64_t batch = 2; batch <= p_.batch; batch *= 2)
      consider({extents_.m, extents_.n, extents_.k, batch});
  }

  void consider(const MatmulBlocks& blocks) {
    const Blocking blocking(p_, extents_, blocks);
    if (blocking.vmem(2) > budget_) return;
    if (least_ != 0 && blocking.least_ticks(device_) >= static_cast<double>(least_)) return;
    const Tick ticks = price(blocking.loop(), device_).duration;
    if (least_ == 0 || ticks < least_) best_ = blocks, least_ = ticks;
  }

  const Matmul& p_;
  const Device device_;
  const Padded extents_;
  const int64_t sublanes_, budget_;
  MatmulBlocks best_;
  Tick least_ = 0;
};

}  // namespace

FusedLoop matmul_loop(const Matmul& p, const MatmulBlocks& b) { return Blocking(p, pad(p), b).loop(); }

MatmulBlocks choose_blocks(const Matmul& p, const Chip& chip) { return Search(p, chip)(); }

}  // namespace armillary::sim
