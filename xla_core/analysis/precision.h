// How exact a product of f32 matrices is to be on a matrix unit that multiplies bf16.
#pragma once

#include "xla_core/hlo/instruction.h"

namespace armillary {

// bf16 passes that `operand_precision` or `algorithm` of a dot or convolution asks for: 1 for DEFAULT, 3 for
// HIGH, 6 for HIGHEST.
int matrix_passes(const Instruction& contraction);

}  // namespace armillary
