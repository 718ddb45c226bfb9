// result[i] = combine(result[i], update[i]) over runs of elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include "xla_core/backends/cpu/native/scatter.h"

namespace armillary::native {

using CombineRun = void (*)(std::byte* result, const std::byte* update, int64_t n);

// nullptr when the pair is not known.
CombineRun combine_run(Combiner combine, DType dtype);

}  // namespace armillary::native
