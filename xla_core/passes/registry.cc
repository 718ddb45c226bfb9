// The rows of the generic passes.
#include <span>

#include "xla_core/passes/passes.h"

namespace armillary {

static const PassRow kGenericPasses[] = {
    {"inline-calls", "Replaces calls by the bodies of their callees.", inline_calls},
    {"dce", "Removes instructions and computations that nobody uses and nobody would miss.", dce},
    {"cse", "Merges instructions that compute the same value from the same operands.", cse},
    {"simplify-tuples", "Looks through tuples that are only built to be taken apart.", simplify_tuples},
};

std::span<const PassRow> generic_passes() { return kGenericPasses; }

}  // namespace armillary
