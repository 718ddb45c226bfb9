// select-and-scatter: each source element is combined into the place that its window selects.
#pragma once

#include "xla_core/backends/cpu/native/array_ref.h"
#include "xla_core/backends/cpu/native/scatter.h"
#include "xla_core/ops/attr.h"

namespace armillary::native {

struct SelectAndScatterSpec {
  Window window;
  // What stays selected: `selected >= candidate` (max-pooling), `selected <= candidate`, or what the function
  // says of (selected, candidate).
  enum Select : uint8_t { kGreaterEqual, kLessEqual, kSelectFunction } select = kSelectFunction;
  ScalarFn select_function = nullptr;  // buffers: selected, candidate, result (pred)
  Combiner combine = Combiner::kFunction;
  ScalarFn combine_function = nullptr;  // buffers: current, source, result
};

// The functions are needed only where no typed loop knows the dtype: f32, f64, bf16, s32 with the two
// comparisons; combiners of scatter_knows.
void select_and_scatter(const ArrayRef& operand, const ArrayRef& source, const ArrayRef& init,
                        const SelectAndScatterSpec& spec, const ArrayRef& result);

bool select_is_typed(SelectAndScatterSpec::Select select, DType dtype);

}  // namespace armillary::native
