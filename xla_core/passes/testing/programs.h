// Random whole programs, for tests that compare what a pipeline makes of them with what they meant.
#pragma once

#include <memory>

#include "xla_core/passes/testing/values.h"

namespace armillary::testing {

// About `size` instructions over a few small shapes: elementwise work with shared operands, broadcasts,
// reductions, transposes, slices, concatenations, dots, in-place updates, tuples, loops and branches.
std::unique_ptr<Module> random_program(Rng& rng, int size);

}  // namespace armillary::testing
