// Custom calls that work on each batch alone.
#pragma once

#include "xla_core/spmd/marks.h"

namespace armillary {

// The join (or a tuple of such) of the call on tiles of its batches; nullptr where it is no such call, or
// none of its operands is cut along batches.
Instruction* call_on_batches(Marks& marks, Instruction* call);

}  // namespace armillary
