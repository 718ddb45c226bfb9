// Variadic, stable sort along one dimension.
#pragma once

#include <optional>
#include <span>

#include "xla_core/backends/cpu/native/array_ref.h"
#include "xla_core/backends/cpu/native/sort_keys.h"

namespace armillary::native {

struct SortSpec {
  int64_t dimension = 0;
  // Sort by operand 0 in this order, without any call per comparison (a radix sort for long rows) ...
  std::optional<KeyOrder> by_first;
  // ... or ask this comparator: buffers are a0, b0, a1, b1, ..., result (pred); "true" means that a comes
  // before b.
  ScalarFn compare = nullptr;
};

// All arrays have the same dims; results[i] may share memory with operands[i]. Always stable, whatever the
// program asked for.
void sort(std::span<const ArrayRef> operands, std::span<const ArrayRef> results, const SortSpec& spec);

}  // namespace armillary::native
