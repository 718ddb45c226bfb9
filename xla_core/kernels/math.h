// exp, log, sin and their like as basic arithmetic, so that back ends vectorise them like everything else.
#pragma once

#include "xla_core/kernels/kernel.h"

namespace armillary::kernels {

// The kernel with its f32 transcendental nodes written out, without branches: at most 2 ulp off, special
// values exact. The f64 ones stay: they are the back end's business. So do sin, cos and tan of huge angles:
// such a node has a predicate as its second operand, and its value counts only where the predicate holds.
Kernel expand_math(const Kernel& kernel);

}  // namespace armillary::kernels
