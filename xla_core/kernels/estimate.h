// How long a kernel will roughly run, to cut it into tasks and to choose how well to compile it.
#pragma once

#include "xla_core/kernels/kernel.h"

namespace armillary::kernels {

// Scalar operations per iteration of the outermost loop; a transcendental function counts for ten.
double estimate_work(const Kernel& kernel);
double cost_of(Prim prim);

}  // namespace armillary::kernels
