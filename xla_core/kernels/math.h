// exp, log, sin and their like as basic arithmetic, so that back ends vectorise them like everything else.
#pragma once

#include "xla_core/kernels/kernel.h"

namespace armillary::kernels {

// The kernel with its f32 transcendental nodes written out: at most 2 ulp off, special values exact, no branches. The f64 ones stay: they are
// the back end's business.
Kernel expand_math(const Kernel& kernel);

}  // namespace armillary::kernels
