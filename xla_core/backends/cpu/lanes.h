// Which values of a lane loop differ from lane to lane, and how many lanes it gets. No LLVM here.
#pragma once

#include <cstdint>
#include <vector>

#include "xla_core/kernels/kernel.h"

namespace armillary::cpu {

struct LaneKind {
  enum Kind : uint8_t { kUniform, kStrided, kVarying } kind = kUniform;
  int64_t stride = 0;  // kStrided: s64 value = base + lane * stride
  friend bool operator==(const LaneKind&, const LaneKind&) = default;
};

struct LanePlan {
  int lanes = 1;                // 1: emit scalar code
  std::vector<LaneKind> kinds;  // per node of the body
};

// For the lane loop of nodes begin .. end (its kLoopBegin and kLoopEnd).
LanePlan plan_lanes(const Kernel& kernel, int begin, int end, int vector_bits);

// The matching kLoopEnd / kIfEnd of each kLoopBegin / kIfBegin, else -1.
std::vector<int> matching_ends(const Tape& tape);

}  // namespace armillary::cpu
