// How much arithmetic and memory traffic a program is, read off the rows: what Executable.cost() reports.
#pragma once

#include "xla_core/hlo/module.h"

namespace armillary {

struct Cost {
  double flops = 0;            // additions, multiplications, comparisons ...: a multiply-add is two
  double transcendentals = 0;  // exp, log, tanh ...: not counted as flops
  double bytes = 0;            // read and written, were nothing cached between instructions
  int64_t unknown_loops = 0;   // loops whose trip count is not known: counted as one round

  Cost& operator+=(const Cost& other);
  friend Cost operator*(double n, Cost cost);
};

// Of one execution. Called computations count with it: loops as often as they run, of branches the dearest.
Cost cost_of(const Instruction& instr);
Cost cost_of(const Computation& computation);
Cost cost_of(const Module& module);

}  // namespace armillary
