// Computations on scalars (combiners, comparators, map bodies) written into a kernel where they are called.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "xla_core/hlo/module.h"
#include "xla_core/kernels/builder.h"

namespace armillary::kernels {

// The leaves of the computation's result for these parameters.
std::vector<Val> inline_scalar(KernelBuilder& b, const Computation& computation,
                               std::span<const Val> arguments);

// Applies the row's scalar recipe.
Val apply_scalar(KernelBuilder& b, const Instruction& instr, std::span<const Val> operands);

}  // namespace armillary::kernels
