// Why a function is compiled again.
#pragma once

#include "xla_core/hlo/module.h"

namespace armillary::pjrt {

// With ARMILLARY_FLAGS=explain_recompiles: says to stderr what is different from the last program of this
// name.
void explain_recompile(const Module& module);

}  // namespace armillary::pjrt
