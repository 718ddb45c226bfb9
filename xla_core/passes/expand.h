// Expanders: composed ops written out in simpler ones.
#pragma once

#include <span>

#include "xla_core/passes/build.h"

namespace armillary {

// The value that stands for `instr`, built in front of it; nullptr to leave it. Not called for dead
// instructions.
using Expander = Instruction* (*)(Instruction * instr);

// The value of `callee` on `operands`, its body written out in front of `before`.
Instruction* inlined(Instruction* before, Computation* callee, std::span<Instruction* const> operands);

// Rows of the op -> expander table (expand.cc).
Instruction* expand_batch_norm_inference(Instruction* instr);
Instruction* expand_batch_norm_training(Instruction* instr);
Instruction* expand_batch_norm_grad(Instruction* instr);
Instruction* expand_rng(Instruction* instr);
Instruction* expand_scan(Instruction* instr);
Instruction* expand_ragged_dot(Instruction* instr);
Instruction* expand_scaled_dot(Instruction* instr);
Instruction* expand_mixed_contraction(Instruction* instr);
Instruction* expand_async_done(Instruction* instr);
Instruction* expand_copy_done(Instruction* instr);
Instruction* expand_custom_call(Instruction* instr);
Instruction* expand_collective(Instruction* instr);
Instruction* expand_collective_done(Instruction* instr);
Instruction* expand_permute(Instruction* instr);
Instruction* expand_device_id(Instruction* instr);

}  // namespace armillary
