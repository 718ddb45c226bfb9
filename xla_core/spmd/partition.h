// From a program over whole arrays, annotated with shardings, to the program of one device with collectives.
#pragma once

#include "xla_core/passes/pass.h"

namespace armillary {

// Arguments and results become the tiles that the annotations of parameters and of the root say; what is not
// annotated may be cut (results) or is whole (parameters). Manual regions (shard_map) run as they are.
// Between them values are whole on every device, but for elementwise ops, dots, transposes and the like,
// which work on tiles where one of their operands is cut. A module that already is the program of one device
// (collectives outside of manual regions) is left alone. The parameters' and the root's `sharding` says how
// they are cut.
bool partition(Module& m, const PassContext& context);

}  // namespace armillary
