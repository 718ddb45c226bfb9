// Which ops may work on each summand of an array alone: f(x + y) = f(x) + f(y).
#pragma once

#include <vector>

#include "xla_core/hlo/module.h"

namespace armillary {

// A constant of zeros, none of them negative.
bool is_zero(const Instruction* i);

// Whether an op of several arrays is linear in those operands that `summed` names, together, while the others
// stay as they are. Floats round; otherwise exact.
bool is_linear(const Instruction& i, const std::vector<bool>& summed);

}  // namespace armillary
