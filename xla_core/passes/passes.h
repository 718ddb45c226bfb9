// The generic passes. What each one does is said where it is defined and in its row of the registry.
#pragma once

#include "xla_core/passes/pass.h"

namespace armillary {

bool combine_all_reduces(Module& module, const PassContext& context);
bool dce(Module& module, const PassContext& context);
bool cse(Module& module, const PassContext& context);
bool inline_calls(Module& module, const PassContext& context);
bool simplify_tuples(Module& module, const PassContext& context);
bool simplify(Module& module, const PassContext& context);
bool fold_constants(Module& module, const PassContext& context);
bool expand(Module& module, const PassContext& context);
bool sink_loop_state(Module& module, const PassContext& context);
bool matrix_precision(Module& module, const PassContext& context);
bool remove_barriers(Module& module, const PassContext& context);
bool simplify_loops(Module& module, const PassContext& context);

// Replaces one call by the body of its callee.
void inline_call(Instruction* call);

}  // namespace armillary
