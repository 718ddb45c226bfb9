// When two instructions compute the same value, and when two computations are the same program.
#pragma once

#include <cstddef>

#include "xla_core/hlo/module.h"

namespace armillary {

// Same op, operands (commuted where the op allows), shape, literal and attributes; where they came from does
// not count.
bool same_value(const Instruction& a, const Instruction& b);
size_t hash_of(const Instruction& i);  // equal for those with same_value

// The same instructions in the same order, whatever their names. Callees must be the same objects.
bool same_program(const Computation& a, const Computation& b);
size_t hash_of(const Computation& computation);  // equal for those with same_program

}  // namespace armillary
