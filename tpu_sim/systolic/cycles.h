// Closed forms for the cycles of a systolic array, equal to what its grid of processing elements takes
// (grid.h).
#pragma once

#include "tpu_sim/systolic/gemm.h"

namespace armillary::sim {

// Cycles from the first weight (or operand) entering until the last sum has left, as grid.h counts them.
//   weight and input stationary, one tile: R to load, S streamed, R-1 + C-1 to drain the skew
//   output stationary, one tile: K streamed, R-1 + C-1 of skew, R-1 to shift the sums out
// Without overlap every tile pays all of it. With it, tiles follow each other every max(S, R) cycles: a load,
// or the shifting out of sums, takes R cycles and hides behind the S vectors of its neighbour if there are
// that many.
Cycles array_cycles(const Gemm& gemm, const ArrayShape& array, Dataflow flow, Overlap overlap);

// What SCALE-Sim 3.0.0 reports without memory stalls. It is the number of the last cycle, counted from 0, and
// for output stationary flow it leaves out the R-1 cycles that shift the sums out. A conformance mode, no
// hardware's truth.
Cycles scalesim_cycles(const Gemm& gemm, const ArrayShape& array, Dataflow flow);

// Multiplications done, over those that the array could have done in that time.
double utilization(const Gemm& gemm, const ArrayShape& array, Cycles cycles);

}  // namespace armillary::sim
