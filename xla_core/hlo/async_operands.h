// What an asynchronous computation runs on.
#pragma once

#include <vector>

#include "xla_core/hlo/instruction.h"

namespace armillary {

// The async-start behind an update or a done; nullptr when a loop or a tuple stands between.
Instruction* async_start_of(const Instruction& i);

// The operands of that start, then those that updates from there to `i` bind later. Empty without a start.
std::vector<Instruction*> async_operands(const Instruction& i);

}  // namespace armillary
