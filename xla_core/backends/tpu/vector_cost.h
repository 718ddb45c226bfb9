// What the vector unit has to do for one element, counted on the tape of an op's recipe.
#pragma once

#include "tpu_sim/isa.h"
#include "xla_core/hlo/module.h"

namespace armillary::tpu {

// Of one result element of an instruction with a scalar recipe; zeros for all others. 64-bit types are worked
// on in parts: four instructions for each.
sim::VectorWork vector_cost(const Instruction& instr);

// Of one evaluation of a scalar body.
sim::VectorWork vector_cost(const Computation& body);

// work += times * one.
void add_work(sim::VectorWork& work, const sim::VectorWork& one, double times);

}  // namespace armillary::tpu
