// Exceptions of Python as ours.
#pragma once

#include <pybind11/pybind11.h>

#include "xla_core/base/error.h"

namespace armillary {

// One of our own classes keeps its kind and place; of any other the type and the message are kept. Needs the
// lock.
Error error_from_python(pybind11::error_already_set& raised);

}  // namespace armillary
