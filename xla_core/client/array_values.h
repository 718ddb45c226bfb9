// Small dots computed in the simulated array itself, element by element, instead of by the cpu's code.
#pragma once

#include "tpu_sim/pod.h"
#include "xla_core/hlo/module.h"

namespace armillary {

// Turns dots of f32, bf16 and s8 that the array can do in reasonable time into calls of it; the others stay.
void use_array_for_dots(Module& m, const sim::Chip& chip);

}  // namespace armillary
