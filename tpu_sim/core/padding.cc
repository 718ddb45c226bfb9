#include "tpu_sim/core/padding.h"

#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

// pred takes a byte; everything else its own width.
int64_t stored_bits(DType dtype) {
  if (!is_array_dtype(dtype)) throw user_error("{} has no place in memory", to_string(dtype));
  return is_pred(dtype) ? 8 : bit_width(dtype);
}

int64_t multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw user_error("a padded array does not fit 64 bits");
  return product;
}

int64_t padded(int64_t extent, int64_t multiple) {
  if (extent < 0) throw user_error("an array has extent {}", extent);
  if (extent > INT64_MAX - multiple) throw user_error("a padded array does not fit 64 bits");
  return round_up(extent, multiple);
}

}  // namespace

HardwareTile hardware_tile(DType dtype) {
  const int64_t bits = stored_bits(dtype);
  return {bits >= 32 ? kSublanes : kSublanes * 32 / bits, kLanes};
}

int64_t padded_elements(std::span<const int64_t> dims, DType dtype) {
  const HardwareTile tile = hardware_tile(dtype);
  const int64_t per_word = tile.sublanes / kSublanes;
  if (dims.empty()) return tile.lanes * per_word;
  if (dims.size() == 1) return padded(dims[0], tile.lanes * per_word);
  int64_t elements =
      multiply(padded(dims[dims.size() - 1], tile.lanes), padded(dims[dims.size() - 2], tile.sublanes));
  for (int64_t extent : dims.first(dims.size() - 2)) elements = multiply(elements, padded(extent, 1));
  return elements;
}

int64_t padded_bytes(std::span<const int64_t> dims, DType dtype) {
  return multiply(padded_elements(dims, dtype), stored_bits(dtype)) / 8;
}

}  // namespace armillary::sim
