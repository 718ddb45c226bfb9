// Which dimensions of an op's operands and result may be cut together, read off the op's row.
#pragma once

#include <optional>

#include "xla_core/hlo/module.h"

namespace armillary {

inline constexpr int64_t kWhole = -1;

// The result's dimensions that may be cut, and for each operand's dimension the one it is cut with, or
// kWhole. Dimensions that are summed over are numbered behind those of the result.
struct Ties {
  std::vector<bool> free;
  std::vector<Dims> along;
  int64_t sums = 0;
  Op combine = Op::add;
  std::optional<int64_t> counted_once = {};  // the operand that only one summand may begin with

  int64_t rank() const { return static_cast<int64_t>(free.size()); }
  bool in_result(int64_t dimension) const { return dimension != kWhole && dimension < rank(); }
};

std::optional<Ties> ties_of(const Instruction& i);

}  // namespace armillary
