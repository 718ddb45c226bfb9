// Orders of dimensions in memory, and the transposes between them.
#pragma once

#include "xla_core/hlo/module.h"
#include "xla_core/shape/permutation.h"

namespace armillary {

bool plain(const Shape& s);           // row-major, or nothing else is said
Dims major_to_minor(const Shape& s);  // dimensions from the slowest to the fastest in memory
bool make_row_major(Shape& s);        // with all leaves; did anything change?

Instruction* transpose(Instruction* x, const Dims& permutation, Instruction* before);

}  // namespace armillary
