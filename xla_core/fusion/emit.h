// Turns a plan into fusion instructions.
#pragma once

#include "xla_core/fusion/plan.h"

namespace armillary {

// True when there is at least one fusion to write. The computation is left in the order of the plan.
bool emit_fusions(Computation& computation, const FusionPlan& plan);

}  // namespace armillary
