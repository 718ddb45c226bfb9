// The generic passes. What each one does is said where it is defined and in its row of the registry.
#pragma once

#include "xla_core/passes/pass.h"

namespace armillary {

bool dce(Module& module, const PassContext& context);
bool cse(Module& module, const PassContext& context);
bool inline_calls(Module& module, const PassContext& context);
bool simplify_tuples(Module& module, const PassContext& context);

}  // namespace armillary
