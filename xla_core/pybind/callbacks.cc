// Python functions that a running program calls: debug.print, pure_callback, io_callback.
#include <cstring>

#include "xla_core/backends/cpu/native/lapack.h"
#include "xla_core/client/host_hooks.h"
#include "xla_core/program/call_out.h"
#include "xla_core/pybind/arrays.h"
#include "xla_core/pybind/bind.h"
#include "xla_core/pybind/with_python.h"

namespace py = pybind11;

namespace armillary {
namespace {

// JAX's name for both kinds; `index` tells which function (python/armillary/_callbacks.py).
bool is_callback(std::string_view target) {
  return target == "xla_ffi_python_cpu_callback" || target == "xla_ffi_partitioned_python_cpu_callback";
}

struct CallbackDepth {
  CallbackDepth() { ++HostHooks::callback_depth; }
  ~CallbackDepth() { --HostHooks::callback_depth; }
};

// A copy: the function may keep what it gets, and the memory is the program's.
py::object argument(const Shape& shape, const std::byte* data) {
  if (!shape.is_array()) return py::none();
  return array_of(Literal::view(shape, const_cast<std::byte*>(data), nullptr).clone());
}

void store(const Shape& shape, std::byte* data, const py::handle& value) {
  if (!shape.is_array()) return;
  const Literal literal = literal_of(py::reinterpret_borrow<py::array>(value));
  if (literal.shape().dtype != shape.dtype || literal.shape().dims != shape.dims)
    throw user_error("the callback returned {}, but the program takes {}", to_string(literal.shape()),
                     to_string(shape));
  if (literal.size_bytes() > 0) std::memcpy(data, literal.bytes(), literal.size_bytes());
}

void call(PyObject* callback, const CallSite& site, std::byte* const* buffers) {
  const CallbackDepth depth;
  with_python([&] {
    py::tuple arguments(site.operands.size());
    for (size_t k = 0; k < site.operands.size(); ++k) arguments[k] = argument(site.operands[k], buffers[k]);
    const py::tuple answer = py::handle(callback).attr("run")(*arguments);
    if (!answer[0].is_none()) throw user_error("{}", std::string(py::str(answer[0])));
    const py::sequence results = answer[1];
    if (results.size() != site.results.size())
      throw user_error("the callback returned {} values, but the program takes {}", results.size(),
                       site.results.size());
    for (size_t r = 0; r < site.results.size(); ++r)
      store(site.results[r], buffers[site.operands.size() + r], py::object(results[r]));
  });
}

// Lives as long as the program that calls it.
std::shared_ptr<PyObject> find(int64_t index) {
  return with_python([&] {
    py::object callback = py::module_::import("armillary._callbacks").attr("find")(index);
    return std::shared_ptr<PyObject>(callback.release().ptr(), [](PyObject* p) {
      if (!Py_IsInitialized() || _Py_IsFinalizing()) return;  // all of Python's memory goes now
      py::gil_scoped_acquire gil;
      Py_DECREF(p);
    });
  });
}

CallOut make_callback(const CallSite& site) {
  if (!is_callback(site.target)) return {};
  const auto attributes = native::parse_attributes(site.config);
  const auto index = attributes.find("index");
  if (index == attributes.end()) throw user_error("{}: backend_config has no index", site.target);
  std::shared_ptr<PyObject> callback = find(index->second);
  return [site, callback = std::move(callback)](std::byte* const* buffers, const DeviceContext&) {
    call(callback.get(), site, buffers);
  };
}

}  // namespace

void bind_callbacks(py::module_&) { add_call_outs(make_callback); }

}  // namespace armillary
