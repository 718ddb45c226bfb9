// A program for several devices, given and giving whole arrays.
#pragma once

#include "xla_core/client/client.h"

namespace armillary {

// Cuts the arguments as the parameters' shardings say, runs on all devices, and joins the results as the
// module's result_sharding says. Where nothing is said an array is whole on every device. Throws as
// Executable does.
std::vector<Literal> execute_on_whole_arrays(const Executable& executable,
                                             std::span<const Argument> arguments);

}  // namespace armillary
