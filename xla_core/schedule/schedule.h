// Orders of instructions: memory first.
#pragma once

#include "xla_core/hlo/module.h"

namespace armillary {

// Orders every control-flow computation so that few bytes are alive at once, and marks the module scheduled.
// Tried per computation: the order it has, depth first with the hungriest subtree first, and a greedy list
// that frees most; the best by peak_bytes wins, ties go to the first.
bool minimise_memory(Module& m);

// The most bytes alive at once when the computation runs in its order; callees' own peaks are given per
// calling instruction.
int64_t peak_bytes(const Computation& c);

}  // namespace armillary
