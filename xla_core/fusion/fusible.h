// What may stand in the body of a fusion, what it costs there, and how often it is evaluated.
#pragma once

#include "xla_core/hlo/module.h"
#include "xla_core/target/target.h"

namespace armillary {

// Loops over its result and can be computed one element at a time; or the policy allows it.
bool is_fusible(const Instruction& instr, const FusionPolicy& policy = {});

// Sums of products: a dot or a convolution.
bool is_contraction(const Instruction& instr);

// Computed from a contraction, and from nothing else that is: better behind that one than before another.
bool follows_contraction(const Instruction& instr);

// Only an address computation on row-major arrays: needs no kernel of its own, so it never absorbs a
// producer.
bool is_alias(const Instruction& instr);

bool is_scalar_constant(const Instruction& instr);

// A reduce-window that reaches from one end of a dimension to the element itself: kernels keep one running
// value.
bool is_running_window(const Instruction& instr);

// Made of a few numbers: to read it costs no memory traffic once it is fused.
bool is_made_up(const Instruction& instr);

// Whether evaluating an element twice is no loss against storing it and loading it twice.
enum class Price : uint8_t { kFree, kCheap, kCostly };
Price price_of(const Instruction& instr);

// Never absorbed: an update in place wants to be the whole kernel's result, and several results side by side
// are not one element.
bool is_root_only(const Instruction& instr);

// When `instr` is evaluated n times, operand k is evaluated n * reads_per_element times.
double reads_per_element(const Instruction& instr, int64_t operand);

// The operand is read at the row-major position at which the result is written.
bool reads_same_index(const Instruction& instr, int64_t operand);

}  // namespace armillary
