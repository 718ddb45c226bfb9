// What may be assumed of a computation that a reduction combines elements with.
#pragma once

#include "xla_core/hlo/module.h"

namespace armillary {

// Whether the value is one operation on a and b that has an identity, and so may be done in any order.
bool is_monoid(const Instruction* value, const Instruction* a, const Instruction* b);

// Whether the elements of (a0, a1, ..., b0, b1, ...) -> (c0, c1, ...) may be combined in parts: each result
// is a choice between its pair, or an operation on it that has an identity. Others, such as a + b * b, are no
// monoid; people expect of them what one loop over the elements gives, from the initial value on.
bool associates(const Computation& combiner);

}  // namespace armillary
