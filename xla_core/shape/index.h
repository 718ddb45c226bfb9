// Walks over the indices of an array in row-major order, and goes between linear and multi-dimensional
// indices.
#pragma once

#include <cstdint>
#include <span>

#include "xla_core/shape/shape.h"

namespace armillary {

// Product of the dims; the caller knows that it does not overflow.
inline int64_t product(std::span<const int64_t> dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

// Steps to the next index, the last dimension fastest. False (and all zeros) after the last one.
inline bool next_index(std::span<const int64_t> dims, std::span<int64_t> index) {
  for (size_t d = dims.size(); d-- > 0;) {
    if (++index[d] < dims[d]) return true;
    index[d] = 0;
  }
  return false;
}

inline int64_t linear_index(std::span<const int64_t> dims, std::span<const int64_t> index) {
  int64_t linear = 0;
  for (size_t d = 0; d < dims.size(); ++d) linear = linear * dims[d] + index[d];
  return linear;
}

inline void delinearize(int64_t linear, std::span<const int64_t> dims, std::span<int64_t> index) {
  for (size_t d = dims.size(); d-- > 0;) {
    index[d] = linear % dims[d];
    linear /= dims[d];
  }
}

// fn(index) for each index of an array of these dims, in row-major order; once for a scalar, never for an
// empty array.
template <class Fn>
void for_each_index(std::span<const int64_t> dims, Fn&& fn) {
  for (int64_t d : dims)
    if (d <= 0) return;
  Dims index(dims.size(), 0);
  do {
    fn(std::span<const int64_t>(index));
  } while (next_index(dims, index));
}

}  // namespace armillary
