// How much one element of an elementwise instruction costs, read off its row's recipe.
#pragma once

#include "xla_core/hlo/instruction.h"

namespace armillary {

struct ScalarCost {
  double flops = 0;            // arithmetic and comparisons, one each
  double transcendentals = 0;  // what needs a polynomial or a table; not among the flops
  double work = 0;             // rough cycles, for deciding what is cheap
};

// Of one element of the result. Zero for instructions without a scalar recipe.
ScalarCost scalar_cost(const Instruction& instr);

// The recipe of an instruction that has one, written out for its types.
Tape scalar_recipe(const Instruction& instr);

// Of one evaluation of a scalar body (to_apply of reduce, map, ...).
ScalarCost scalar_cost(const Computation& body);

}  // namespace armillary
