// Sorting one row: of entries by key, or of positions by a comparator.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "xla_core/backends/cpu/native/sort_keys.h"

namespace armillary::native {

// In place, with a scratch row of the same length; long rows use the thread pool.
void sort_entries(std::span<NarrowEntry> row, std::span<NarrowEntry> scratch, int key_bits);
void sort_entries(std::span<WideEntry> row, std::span<WideEntry> scratch, int key_bits);

// Stable merge sort. `make_less` is called once per task and gives a comparator for that task alone (it may
// hold buffers). A comparator that is no strict weak order gives some permutation, never an access out of
// range.
using PositionLess = std::function<bool(uint32_t, uint32_t)>;
void sort_positions(std::span<uint32_t> row, std::span<uint32_t> scratch,
                    const std::function<PositionLess()>& make_less);

}  // namespace armillary::native
