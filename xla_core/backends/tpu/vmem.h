// Which temporaries stay in VMEM between the instruction that makes them and those that read them.
#pragma once

#include <unordered_set>

#include "xla_core/buffers/values.h"

namespace armillary::tpu {

class Residents {
 public:
  // Shortest lives first, as long as no more than `capacity` bytes are alive at once. Arguments, results,
  // constants, and what collectives read or write stay in HBM.
  Residents(const Module& module, const Values& values, int64_t capacity);

  bool contains(int32_t value) const { return value >= 0 && inside_.contains(value); }

 private:
  std::unordered_set<int32_t> inside_;
};

}  // namespace armillary::tpu
