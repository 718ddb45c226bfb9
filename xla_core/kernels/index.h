// Where we are in an array: digits of a mixed-radix number that is the row-major linear index.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "xla_core/kernels/builder.h"

namespace armillary::kernels {

// 0 <= value < extent; counts for `stride` elements.
struct Digit {
  int64_t extent = 1;
  int64_t stride = 1;
  Val value;
};

// The digits of a loop nest say nothing about dimensions: arrays of equal element count share an index, so a
// reshape costs nothing, and dimensions that need not be told apart are one digit.
class Index {
 public:
  Index() = default;  // the index of a scalar
  explicit Index(std::vector<Digit> digits)
      : digits_(std::move(digits)) {}  // outermost first, strides falling
  static Index of_dims(std::span<const int64_t> dims, std::span<const Val> index);

  const std::vector<Digit>& digits() const { return digits_; }
  Val linear(KernelBuilder& b) const;
  // The index along each dimension of an array of these dims.
  std::vector<Val> along(KernelBuilder& b, std::span<const int64_t> dims) const;
  // The digits that count in [low, high), a dimension of stride `low` and `high / low` elements; their
  // strides are divided by `low`.
  std::vector<Digit> between(KernelBuilder& b, int64_t low, int64_t high) const;
  // Equal numbers mean equal indices.
  std::vector<int64_t> key() const;

 private:
  std::vector<Digit> digits_;
};

}  // namespace armillary::kernels
