// Where a window's elements lie in its operand: what reduce-window, select-and-scatter and convolution have
// in common.
#pragma once

#include <optional>

#include "xla_core/ops/attr.h"

namespace armillary {

// The operand's index in one dimension for element `tap` of the window at output `position`; none where there
// is padding, or a hole that base dilation makes.
inline std::optional<int64_t> window_source(const WindowDim& w, int64_t position, int64_t tap,
                                            int64_t input_size) {
  const int64_t dilated = position * w.stride + tap * w.rhs_dilate - w.pad_low;
  if (dilated < 0 || dilated % w.lhs_dilate != 0 || dilated / w.lhs_dilate >= input_size) return std::nullopt;
  return dilated / w.lhs_dilate;
}

}  // namespace armillary
