// gather by copying runs of neighbouring elements.
#pragma once

#include "xla_core/backends/cpu/native/array_ref.h"
#include "xla_core/backends/cpu/native/windows.h"

namespace armillary::native {

struct GatherSpec {
  Dims offset_dims, collapsed_slice_dims, start_index_map;
  Dims operand_batching_dims, start_indices_batching_dims;
  Dims slice_sizes;
  int64_t index_vector_dim = 0;
};

// Any gather; windows that reach outside the operand are moved inside.
void gather(const ArrayRef& operand, const ArrayRef& indices, const GatherSpec& spec, const ArrayRef& result);

// Elements copied at once: 1 means that a loop over elements is as good.
int64_t gather_run_length(const ArrayRef& operand, const GatherSpec& spec, const ArrayRef& result);

}  // namespace armillary::native
