// armillary::Error as Python exceptions: armillary.Error and one subclass a kind, each also the built-in that
// Python programmers expect.
#include "xla_core/base/error.h"
#include "xla_core/pybind/bind.h"
#include "xla_core/pybind/with_python.h"

namespace py = pybind11;

namespace armillary {
namespace {

struct Classes {
  py::object base, user, unsupported, resource, internal;

  const py::object& of(ErrorKind kind) const {
    switch (kind) {
      case ErrorKind::kUser:
        return user;
      case ErrorKind::kUnsupported:
        return unsupported;
      case ErrorKind::kResource:
        return resource;
      case ErrorKind::kInternal:
        return internal;
    }
    return base;
  }
};

py::object make_class(const char* name, const char* doc, py::tuple bases) {
  return py::reinterpret_steal<py::object>(PyErr_NewExceptionWithDoc(name, doc, bases.ptr(), nullptr));
}

// Lives as long as the interpreter: a translator may run at any time.
Classes& classes() {
  static auto* instance = new Classes;
  return *instance;
}

void raise(const Error& e) {
  const py::object& type = classes().of(e.kind());
  py::object exception = type(e.what());
  exception.attr("kind") = std::string(to_string(e.kind()));
  exception.attr("where") = e.where();
  exception.attr("message") = e.message();
  PyErr_SetObject(type.ptr(), exception.ptr());
}

}  // namespace

Error error_from_python(py::error_already_set& raised) {
  const Classes& c = classes();
  const std::pair<const py::object*, ErrorKind> kinds[] = {{&c.user, ErrorKind::kUser},
                                                           {&c.unsupported, ErrorKind::kUnsupported},
                                                           {&c.resource, ErrorKind::kResource},
                                                           {&c.internal, ErrorKind::kInternal}};
  for (const auto& [type, kind] : kinds)
    if (*type && raised.matches(*type))
      return Error(kind, py::str(raised.value().attr("where")), py::str(raised.value().attr("message")));
  return internal_error("{}", raised.what());
}

void bind_errors(py::module_& m) {
  Classes& c = classes();
  auto builtin = [](PyObject* o) { return py::reinterpret_borrow<py::object>(o); };
  c.base =
      make_class("armillary.Error", "Anything the core refuses or fails at; has kind, where and message.",
                 py::make_tuple(builtin(PyExc_Exception)));
  c.user = make_class("armillary.UserError", "The input is wrong.",
                      py::make_tuple(c.base, builtin(PyExc_ValueError)));
  c.unsupported =
      make_class("armillary.UnsupportedError", "The input is right, but Armillary cannot do it yet.",
                 py::make_tuple(c.base, builtin(PyExc_NotImplementedError)));
  c.resource = make_class("armillary.ResourceError", "Memory, threads or files are missing.",
                          py::make_tuple(c.base, builtin(PyExc_MemoryError)));
  c.internal = make_class("armillary.InternalError", "A mistake in Armillary itself.",
                          py::make_tuple(c.base, builtin(PyExc_RuntimeError)));
  m.attr("Error") = c.base;
  m.attr("UserError") = c.user;
  m.attr("UnsupportedError") = c.unsupported;
  m.attr("ResourceError") = c.resource;
  m.attr("InternalError") = c.internal;
  py::register_local_exception_translator([](std::exception_ptr pending) {
    try {
      if (pending) std::rethrow_exception(pending);
    } catch (const Error& e) {
      raise(e);
    }
  });
}

}  // namespace armillary
