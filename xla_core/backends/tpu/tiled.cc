#include "xla_core/backends/tpu/tiled.h"

#include <bit>
#include <cmath>

#include "tpu_sim/isa.h"
#include "xla_core/base/error.h"

namespace armillary::tpu {
namespace {

constexpr double kMostBytes = int64_t{1} << 50;  // what copies and collectives of it can be priced with

int64_t bits_of(DType dtype) { return is_pred(dtype) ? 8 : bit_width(dtype); }

double ratio(int64_t padded, int64_t extent) {
  return static_cast<double>(padded) / static_cast<double>(extent);
}

int64_t padded_rows(int64_t rows, const sim::HardwareTile& tile) {
  const int64_t least = tile.sublanes / sim::kSublanes;  // narrow elements share a sublane
  if (rows >= tile.sublanes) return sim::round_up(rows, tile.sublanes);
  return std::max(least, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rows))));
}

// The least factor over all choices of a minor and a second minor dimension.
double least_padding(const Dims& dims, const sim::HardwareTile& tile) {
  if (dims.empty()) return static_cast<double>(tile.lanes);
  if (dims.size() == 1) return ratio(sim::round_up(dims[0], tile.lanes), dims[0]);
  double least = 0;
  for (size_t lanes = dims.size(); lanes-- > 0;)
    for (size_t rows = dims.size(); rows-- > 0;) {
      if (rows == lanes) continue;
      const double factor = ratio(sim::round_up(dims[lanes], tile.lanes), dims[lanes]) *
                            ratio(padded_rows(dims[rows], tile), dims[rows]);
      if (least == 0 || factor < least) least = factor;
    }
  return least;
}

}  // namespace

double padding_factor(const Shape& array) {
  Dims dims;
  for (int64_t d : array.dims) {
    if (d == 0) return 1;
    if (d != 1) dims.push_back(d);
  }
  return least_padding(dims, sim::hardware_tile(array.dtype));
}

int64_t tiled_bytes(const Shape& array) {
  const double bytes = static_cast<double>(array.num_elements()) * padding_factor(array) *
                       static_cast<double>(bits_of(array.dtype)) / 8;
  if (bytes > kMostBytes)
    throw user_error("{} takes {:.3g} bytes with its padding, but the simulator takes arrays up to {:.3g}",
                     to_string(array), bytes, kMostBytes);
  return std::llround(bytes);
}

int64_t tiled_bytes_of_leaves(const Shape& shape) {
  int64_t total = 0;
  for (const Shape* leaf : leaves_of(shape))
    if (leaf->is_array()) total += tiled_bytes(*leaf);
  return total;
}

}  // namespace armillary::tpu
