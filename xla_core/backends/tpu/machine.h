// The machine that a program is compiled for: a chip, and how many of them there are.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tpu_sim/isa.h"

namespace armillary {

struct Machine {
  sim::Chip chip;
  int64_t devices = 1;
  // Of a collective alone. The pod knows; what is not set costs nothing.
  std::function<double(const sim::CollectiveStart&)> collective_seconds = {};
  int64_t unknown_trips = 1;  // of loops whose count cannot be read off the program
  // Of each device of the program, its number on the machine; empty: the same. Others stand idle.
  std::vector<int> places = {};
};

}  // namespace armillary
