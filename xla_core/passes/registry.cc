// The rows of the generic passes.
#include <span>

#include "xla_core/passes/passes.h"

namespace armillary {

static const PassRow kGenericPasses[] = {
    {"inline-calls", "Replaces calls by the bodies of their callees.", inline_calls},
    {"dce", "Removes instructions and computations that nobody uses and nobody would miss.", dce},
    {"cse", "Merges instructions that compute the same value from the same operands.", cse},
    {"simplify-tuples", "Looks through tuples that are only built to be taken apart.", simplify_tuples},
    {"simplify", "Applies the rewrite rules: arithmetic, logic, shapes, slices, reductions, dots.", simplify},
    {"fold-constants", "Evaluates what depends on constants only, within a budget of bytes and work.",
     fold_constants},
    {"expand",
     "Writes composed ops out in simpler ones: batch normalisation, scan, ragged dots, asynchronous pairs, "
     "collectives of one device.",
     expand},
    {"sink-loop-state",
     "Makes iotas, broadcast constants and masks of them in the loops that read them, instead of carrying "
     "them.",
     sink_loop_state},
    {"matrix-precision",
     "Rounds the operands of f32 dots and convolutions as a matrix unit of bf16 does: one pass, or three for "
     "HIGH precision.",
     matrix_precision},
    {"remove-barriers", "Removes optimization barriers once nothing looks through them any more.",
     remove_barriers},
    {"combine-all-reduces",
     "Makes one all-reduce of short ones over the same devices that do not wait for each other.",
     combine_all_reduces},
    {"simplify-loops",
     "Drops loop state nobody reads or changes, hoists what does not vary, and takes the only branch.",
     simplify_loops},
};

std::span<const PassRow> generic_passes() { return kGenericPasses; }

}  // namespace armillary
