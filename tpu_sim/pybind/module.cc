// armillary._sim: the simulator for Python. Arguments go in, numbers come out; no logic.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "tpu_sim/pybind/bind.h"
#include "xla_core/base/error.h"

namespace nb = nanobind;

namespace armillary::sim {
namespace {

const char* class_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUser:
      return "UserError";
    case ErrorKind::kUnsupported:
      return "UnsupportedError";
    case ErrorKind::kResource:
      return "ResourceError";
    case ErrorKind::kInternal:
      break;
  }
  return "InternalError";
}

// The exception classes belong to armillary._core, so that one `except armillary.Error` catches both.
void translate(const std::exception_ptr& pending, void*) {
  try {
    std::rethrow_exception(pending);
  } catch (const Error& e) {
    const nb::object type = nb::module_::import_("armillary._core").attr(class_of(e.kind()));
    nb::object exception = type(e.what());
    exception.attr("kind") = std::string(to_string(e.kind()));
    exception.attr("where") = e.where();
    exception.attr("message") = e.message();
    PyErr_SetObject(type.ptr(), exception.ptr());
  }
}

}  // namespace
}  // namespace armillary::sim

NB_MODULE(_sim, m) {
  nb::register_exception_translator(armillary::sim::translate);
  armillary::sim::bind_systolic(m);
  armillary::sim::bind_chips(m);
  armillary::sim::bind_collectives(m);
  armillary::sim::bind_prices(m);
  armillary::sim::bind_programs(m);
}
