// What one processing element does with its operands, for each pair of types.
#pragma once

#include <cstdint>

#include "tpu_sim/systolic/grid.h"

namespace armillary::sim {

inline float multiply_add(float sum, float a, float b) { return sum + a * b; }
inline float multiply_add(float sum, Bf16 a, Bf16 b) { return sum + a.value() * b.value(); }
// Wraps: two's complement addition, without C++'s undefined overflow.
inline int32_t multiply_add(int32_t sum, int8_t a, int8_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(int32_t{a} * int32_t{b}));
}

inline float add(float x, float y) { return x + y; }
inline int32_t add(int32_t x, int32_t y) {
  return static_cast<int32_t>(static_cast<uint32_t>(x) + static_cast<uint32_t>(y));
}

// A matrix, or its transpose, that reads as zero outside its bounds: the padding of partial tiles.
template <class T>
struct PaddedView {
  const T* data;
  int64_t rows, cols;
  bool transposed = false;  // rows and cols are those after transposing

  T at(int64_t r, int64_t c) const {
    if (r >= rows || c >= cols) return T{};
    return transposed ? data[c * rows + r] : data[r * cols + c];
  }
};

}  // namespace armillary::sim
