// What the PJRT plugin may ask of the Python that it finds itself in.
#include <pybind11/stl.h>

#include "xla_core/client/host_hooks.h"
#include "xla_core/io/device_proto.h"
#include "xla_core/io/hlo.pb.h"
#include "xla_core/pybind/bind.h"
#include "xla_core/pybind/with_python.h"
#include "xla_core/spmd/inspect.h"

namespace py = pybind11;

namespace armillary {
namespace {

std::string hlo_of_stablehlo(std::string_view program) {
  return with_python([&] {
    const bool is_bytecode = program.starts_with("ML\xefR");
    py::object code = is_bytecode ? py::object(py::bytes(program.data(), program.size()))
                                  : py::object(py::str(program.data(), program.size()));
    return std::string(py::bytes(py::module_::import("armillary._stablehlo").attr("to_hlo_proto")(code)));
  });
}

std::vector<std::string> result_memory_kinds(std::string_view program) {
  return with_python([&] {
    const py::object kinds = py::module_::import("armillary._stablehlo")
                                 .attr("result_memory_kinds")(py::bytes(program.data(), program.size()));
    return kinds.cast<std::vector<std::string>>();
  });
}

void client_created() {
  with_python([] { py::module_::import("armillary._executable").attr("find_blas")(); });
}

// Handlers that were given to jax.ffi.register_ffi_target for the cpu.
HostHooks::FfiStages find_ffi_handler(const std::string& target, bool typed) {
  return with_python([&] {
    HostHooks::FfiStages stages;
    const py::object found =
        py::module_::import("armillary._callbacks").attr("find_ffi_handler")(target, typed);
    if (found.is_none()) return stages;
    const py::dict capsules = found;
    auto pointer = [&](const char* stage) -> void* {
      if (!capsules.contains(stage)) return nullptr;
      PyObject* capsule = py::object(capsules[stage]).ptr();
      return PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule));
    };
    stages = {pointer("instantiate"), pointer("prepare"), pointer("initialize"), pointer("execute")};
    return stages;
  });
}

void inspect_sharding(const std::string& config, const std::string& sharding) {
  proto::OpSharding p;
  sharding_from_text(sharding, &p);
  with_python([&] {
    const py::object error = py::module_::import("armillary._callbacks")
                                 .attr("inspect_sharding")(config, py::bytes(p.SerializeAsString()));
    if (!error.is_none()) throw internal_error("{}", std::string(py::str(error)));
  });
}

void without_host_lock(const std::function<void()>& body) {
  if (!Py_IsInitialized() || !PyGILState_Check()) return body();
  py::gil_scoped_release nogil;
  body();
}

}  // namespace

void bind_plugin(py::module_&) {
  host_hooks().hlo_of_stablehlo = hlo_of_stablehlo;
  host_hooks().result_memory_kinds = result_memory_kinds;
  host_hooks().client_created = client_created;
  host_hooks().find_ffi_handler = find_ffi_handler;
  host_hooks().without_host_lock = without_host_lock;
  sharding_inspector() = inspect_sharding;
}

}  // namespace armillary
