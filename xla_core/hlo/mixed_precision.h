// Reducers whose floats differ from the operands' or from the stated result's.
#pragma once

#include "xla_core/hlo/module.h"

namespace armillary {

// Writes out the conversions (and the tuple around a single result) that text and protos may leave out at
// reduce, reduce-window, scatter, map and the reducing collectives. Modules that leave nothing out stay as
// they are.
void write_out_reducer_conversions(Module& module);

}  // namespace armillary
