// The interpreter from threads that do not have it.
#pragma once

#include <pybind11/pybind11.h>

#include "xla_core/base/error.h"

namespace armillary {

// One of our own classes keeps its kind and place; of any other the type and the message are kept. Needs the
// lock.
Error error_from_python(pybind11::error_already_set& raised);

// Runs body with the interpreter's lock; what Python raises becomes an Error, which needs no lock to live on.
template <class Body>
auto with_python(Body&& body) {
  if (!Py_IsInitialized() || _Py_IsFinalizing()) throw resource_error("the Python interpreter has shut down");
  pybind11::gil_scoped_acquire gil;
  try {
    return body();
  } catch (pybind11::error_already_set& e) {
    throw error_from_python(e);
  }
}

}  // namespace armillary
