// A run's sums as a Timeline.
#pragma once

#include "tpu_sim/pod/machine.h"

namespace armillary::sim {

void fill_report(Timeline& timeline, const StepList& list, const Pod& pod, Machine& machine);

}  // namespace armillary::sim
