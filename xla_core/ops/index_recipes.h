// Index recipes of the rows that move elements: where the result element at an index comes from.
#pragma once

#include "xla_core/ops/op.h"

namespace armillary {

using Index = std::span<const Val>;

Val broadcast_element(TapeBuilder& b, Index index, const OpContext& c, const Shape& result);
Val transpose_element(TapeBuilder& b, Index index, const OpContext& c, const Shape& result);
Val reshape_element(TapeBuilder& b, Index index, const OpContext& c, const Shape& result);
Val reverse_element(TapeBuilder& b, Index index, const OpContext& c, const Shape& result);
Val slice_element(TapeBuilder& b, Index index, const OpContext& c, const Shape& result);
Val pad_element(TapeBuilder& b, Index index, const OpContext& c, const Shape& result);
Val concatenate_element(TapeBuilder& b, Index index, const OpContext& c, const Shape& result);
Val iota_element(TapeBuilder& b, Index index, const OpContext& c, const Shape& result);
Val copy_element(TapeBuilder& b, Index index, const OpContext& c, const Shape& result);
Val bitcast_element(TapeBuilder& b, Index index, const OpContext& c, const Shape& result);

// Operand index of a reshape: dimensions are split and joined only inside groups of equal product, so that
// plain ones stay plain.
std::vector<Val> reshape_index(TapeBuilder& b, Index index, std::span<const int64_t> from,
                               std::span<const int64_t> to);

inline Val load_operand(TapeBuilder& b, const OpContext& c, int i, Index index) {
  return b.load(i, c.operand(i).dtype, c.operand(i).dims, index);
}

}  // namespace armillary
