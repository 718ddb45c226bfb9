// result[i] = combine(result[i], update[i]) over elements in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "xla_core/backends/cpu/native/scatter.h"

namespace armillary::native {

using CombineRun = void (*)(std::byte* result, const std::byte* update, int64_t n);

// The same for elements anywhere: result[to[i]] and update[from[i]], in order; those with to[i] outside [low,
// high) are left out.
using CombineEach = void (*)(std::byte* result, const std::byte* update, const int64_t* to,
                             const int64_t* from, int64_t n, int64_t low, int64_t high);

struct Combine {
  CombineRun run = nullptr;  // both nullptr when the pair is not known
  CombineEach each = nullptr;
};
Combine combine_of(Combiner combine, DType dtype);

}  // namespace armillary::native
