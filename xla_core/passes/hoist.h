// Loop-invariant code motion.
#pragma once

#include "xla_core/passes/loop_state.h"
#include "xla_core/passes/pass.h"

namespace armillary {

// Moves pure work on unchanged state out of the loop, unless it only spreads data that fusion will spread for
// free. A loop of no rounds then computes what it did not need: nothing that is moved can fail.
bool hoist_invariants(Loop& loop, const PassContext& context);

}  // namespace armillary
