// Variadic scatter with every attribute. Updates that meet at one element are combined in the order of the
// index array, whatever the number of threads; a window that does not lie inside the operand as a whole is
// dropped.
#pragma once

#include <span>

#include "xla_core/backends/cpu/native/array_ref.h"

namespace armillary::native {

enum class Combiner : uint8_t { kAssign, kAdd, kMultiply, kMinimum, kMaximum, kAnd, kOr, kFunction };

struct ScatterSpec {
  Dims update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims;
  Dims input_batching_dims, scatter_indices_batching_dims;
  int64_t index_vector_dim = 0;
  bool unique_indices = false;
  Combiner combine = Combiner::kFunction;
  // For kFunction: buffers are the current elements, the update elements, then the results, which never
  // overlap them.
  ScalarFn function = nullptr;
};

// Whether `combine` runs without a function for this dtype; scatter of several operands always needs one
// unless it assigns.
bool scatter_knows(Combiner combine, DType dtype);

// results[i] may be operands[i]'s own memory: then it is changed in place, else it is copied first.
void scatter(std::span<const ArrayRef> operands, const ArrayRef& indices, std::span<const ArrayRef> updates,
             const ScatterSpec& spec, std::span<const ArrayRef> results);

}  // namespace armillary::native
