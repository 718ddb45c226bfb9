// Producer-consumer and multi-output loop fusion: many elementwise instructions, one kernel.
#pragma once

#include "xla_core/passes/pass.h"

namespace armillary {

// Leaves `fusion` instructions (kLoop, or kInput when a reduce is a root) with bodies behind `calls`.
bool fuse(Module& module, const PassContext& context);

// Puts the instructions of a fusion's body back where the fusion stands: for back ends that cannot lower it.
void unfuse(Instruction* fusion);

}  // namespace armillary
