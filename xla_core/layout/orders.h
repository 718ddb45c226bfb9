// Orders of dimensions in memory, and the transposes between them.
#pragma once

#include "xla_core/hlo/module.h"

namespace armillary {

bool plain(const Shape& s);           // row-major, or nothing else is said
Dims major_to_minor(const Shape& s);  // dimensions from the slowest to the fastest in memory
bool make_row_major(Shape& s);        // with all leaves; did anything change?

Dims permuted(const Dims& dims, const Dims& permutation);
Dims inverse(const Dims& permutation);
Instruction* transpose(Instruction* x, const Dims& permutation, Instruction* before);

}  // namespace armillary
