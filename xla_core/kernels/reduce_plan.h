// How the loops of a reduction lie: which parts of the operand's space are kept, which are reduced, and which
// one runs in lanes.
#pragma once

#include <cstdint>
#include <vector>

#include "xla_core/kernels/nest.h"

namespace armillary::kernels {

// A factor of the operand's linear space.
struct ReducePart {
  Factor factor;
  bool reduced = false;
  int64_t result_stride = 0;  // of kept ones, in the result
};

struct ReducePlan {
  std::vector<ReducePart> parts;  // outermost first; never empty
  int64_t kept = 1, reduced = 1;  // element counts
  int lane_part = 0;              // index into parts
  bool lanes_reduce() const { return parts[lane_part].reduced; }
};

ReducePlan plan_reduce(const Site& site, const std::vector<const Instruction*>& heroes);

// The reduces that decide the loops of a fusion: all have the same operand dims and reduced dimensions.
// Empty: there is none, or they disagree.
std::vector<const Instruction*> hero_reduces(const Site& site);

}  // namespace armillary::kernels
