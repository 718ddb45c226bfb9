// The oracle: runs HLO slowly, obviously and right. Folding and every test of a back end stand on it.
#pragma once

#include <span>

#include "xla_core/hlo/module.h"

namespace armillary {

// The entry's result for these arguments, one a parameter. Arguments that do not fit are user errors; what
// cannot run is an unsupported error that blames the instruction.
Literal evaluate(const Module& module, std::span<const Literal> args);
Literal evaluate(const Computation& computation, std::span<const Literal> args);

// One instruction from the values of its operands. Results may share memory with operands.
Literal evaluate_instruction(const Instruction& instruction, std::span<const Literal> operands);

// Has evaluate() a meaning for this op at all?
bool can_evaluate(Op op);

}  // namespace armillary
