// Which rows of its operands a row of a result is made from: what decides whether several operations can work
// on an array piece by piece.
#pragma once

#include <span>
#include <vector>

#include "xla_core/hlo/module.h"

namespace armillary::tpu {

// The leading dimensions that have so many elements together are an array's rows; 0: there are no such.
size_t row_dims(const Dims& dims, int64_t rows);

// How the rows of some arrays arrive in another one.
enum class Flow : uint8_t {
  kNothing,  // they do not
  kRows,     // row n is made from rows n
  kSum,      // it is made from all rows, added up one after the other
  kMixed,    // otherwise: it cannot begin before the last row is there
};

// Of each leaf of the result, and of the contraction in a fusion, given those of the operands.
struct Flows {
  std::vector<Flow> leaves;
  Flow contraction = Flow::kNothing;
};
Flows flows_of(const Instruction& instr, std::span<const Flow> operands, int64_t rows);

}  // namespace armillary::tpu
