// Who started what is awaited, and on which operands.
#pragma once

#include <vector>

#include "xla_core/hlo/instruction.h"

namespace armillary {

// What stands in front of the updates that an update or a done looks through; nullptr without operands.
Instruction* started_by(const Instruction& i);

// The same when it is an async-start; nullptr when a loop or a tuple stands between.
Instruction* async_start_of(const Instruction& i);

// The operands of that start, then those that updates from there to `i` bind later. Empty without a start.
std::vector<Instruction*> async_operands(const Instruction& i);

}  // namespace armillary
