// The k greatest (or least) elements of each row, with their positions.
#pragma once

#include "xla_core/backends/cpu/native/array_ref.h"

namespace armillary::native {

// Rows lie along the last dimension. values has the operand's dtype, indices is s32; both have k in place of
// the last dimension. Elements come in IEEE's total order, from the greatest down (or the least up); equal
// ones by position.
void topk(const ArrayRef& operand, int64_t k, bool largest, const ArrayRef& values, const ArrayRef& indices);

}  // namespace armillary::native
