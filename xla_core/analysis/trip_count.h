// How often a while loop runs, when its induction variable tells.
#pragma once

#include <optional>

#include "xla_core/hlo/instruction.h"

namespace armillary {

// The state element that counts the rounds of a loop: starts at a constant, moves by a constant, is compared
// with a constant.
struct Induction {
  int64_t element = 0;
  int64_t start = 0, step = 0;
  int64_t trips = 0;
};

// nullopt when the loop is of another form, counts over the end of its type, or never ends.
std::optional<Induction> induction_of(const Instruction& loop);

}  // namespace armillary
