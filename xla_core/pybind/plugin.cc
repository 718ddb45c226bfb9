// What the PJRT plugin may ask of the Python that it finds itself in.
#include "xla_core/client/host_hooks.h"
#include "xla_core/pybind/bind.h"
#include "xla_core/pybind/python_error.h"

namespace py = pybind11;

namespace armillary {
namespace {

// Runs body with the interpreter's lock; what Python raises becomes an Error, which needs no lock to live on.
template <class Body>
auto with_python(Body&& body) {
  if (!Py_IsInitialized() || _Py_IsFinalizing()) throw resource_error("the Python interpreter has shut down");
  py::gil_scoped_acquire gil;
  try {
    return body();
  } catch (py::error_already_set& e) {
    throw error_from_python(e);
  }
}

std::string hlo_of_stablehlo(std::string_view program) {
  return with_python([&] {
    const bool is_bytecode = program.starts_with("ML\xefR");
    py::object code = is_bytecode ? py::object(py::bytes(program.data(), program.size()))
                                  : py::object(py::str(program.data(), program.size()));
    return std::string(py::bytes(py::module_::import("armillary._stablehlo").attr("to_hlo_proto")(code)));
  });
}

void client_created() {
  with_python([] { py::module_::import("armillary._executable").attr("find_blas")(); });
}

void without_host_lock(const std::function<void()>& body) {
  if (!Py_IsInitialized() || !PyGILState_Check()) return body();
  py::gil_scoped_release nogil;
  body();
}

}  // namespace

void bind_plugin(py::module_&) {
  host_hooks().hlo_of_stablehlo = hlo_of_stablehlo;
  host_hooks().client_created = client_created;
  host_hooks().without_host_lock = without_host_lock;
}

}  // namespace armillary
