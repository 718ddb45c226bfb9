// The copies that a program needs before its buffers can be assigned.
#pragma once

#include "xla_core/hlo/module.h"

namespace armillary {

// Gives each while, conditional and call a computation of its own: buffers are per call site.
bool flatten_call_graph(Module& m);

// A loop whose body hands a state element on at another place gets a copy of it: the place it came from may
// be overwritten first.
bool insert_loop_copies(Module& m);

}  // namespace armillary
