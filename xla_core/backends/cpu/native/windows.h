// What gather and scatter share: where windows begin, and how the elements of a window lie in two arrays.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "xla_core/backends/cpu/native/array_ref.h"

namespace armillary::native {

// How an index array names places in an operand.
struct IndexRoles {
  Dims coordinate_dims;  // operand dimension of each coordinate (start_index_map,
                         // scatter_dims_to_operand_dims)
  Dims operand_batching, index_batching;
  int64_t vector_dim = 0;  // dimension of the index array that holds the coordinates; its rank: scalars
};

enum class OutOfRange : uint8_t { kClamp, kDrop };

inline constexpr int64_t kDropped = -1;

// The linear element of the operand at which each window begins, in the order of the index array without its
// vector dimension. A window that does not lie inside the operand as a whole is moved inside (kClamp) or
// becomes kDropped.
std::vector<int64_t> window_starts(const ArrayRef& indices, const IndexRoles& roles, const Dims& operand,
                                   const Dims& window, OutOfRange rule);

// A window as runs of neighbouring elements: run r begins `first[r]` after the window's start in one array,
// `second[r]` in the other.
struct WindowRuns {
  std::vector<int64_t> first, second;
  int64_t length = 1;  // elements of each run
  int64_t size() const { return static_cast<int64_t>(first.size()) * length; }

  WindowRuns(const Dims& sizes, const Dims& first_strides, const Dims& second_strides);

  // Calls body(first offset, second offset, count) for the elements [begin, end) of the window.
  template <class Body>
  void for_each(int64_t begin, int64_t end, Body&& body) const {
    for (int64_t at = begin; at < end;) {
      const int64_t run = at / length, skip = at % length, count = std::min(length - skip, end - at);
      body(first[run] + skip, second[run] + skip, count);
      at += count;
    }
  }
};

// Dimensions 0 .. rank-1 that are in neither list.
Dims other_dims(int64_t rank, const Dims& a, const Dims& b = {});

// Linear offsets of all index combinations of some dimensions, the last fastest.
std::vector<int64_t> offsets_of(const Dims& sizes, const Dims& strides);

}  // namespace armillary::native
