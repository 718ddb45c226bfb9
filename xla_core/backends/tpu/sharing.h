// Which results may lie where an operand lies.
#pragma once

#include "xla_core/hlo/instruction.h"

namespace armillary::tpu {

// The operand of which the result's leaf is a changed part; -1: it is written as a whole.
int64_t updated_operand(const Instruction& i, int64_t leaf);

// Whether the leaf may take the operand's place: it is changed in place, or read element by element as it is
// written.
bool may_share(const Instruction& i, int64_t operand, int64_t leaf);

}  // namespace armillary::tpu
