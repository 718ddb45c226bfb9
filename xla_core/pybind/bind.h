// The parts of armillary._core, one function a concept, called in order by module.cc.
#pragma once

#include <pybind11/pybind11.h>

namespace armillary {

// For classes whose instances only the core makes: one made by Python's `__new__` would point at nothing.
inline pybind11::custom_type_setup made_by_the_core() {
  return pybind11::custom_type_setup([](PyHeapTypeObject* type) {
    type->ht_type.tp_new = [](PyTypeObject* self, PyObject*, PyObject*) -> PyObject* {
      PyErr_Format(PyExc_TypeError, "Python cannot make an instance of %s", self->tp_name);
      return nullptr;
    };
  });
}

void bind_errors(pybind11::module_& m);
void bind_shapes(pybind11::module_& m);
void bind_hlo(pybind11::module_& m);
void bind_tables(pybind11::module_& m);
void bind_run(pybind11::module_& m);
void bind_executable(pybind11::module_& m);
void bind_plugin(pybind11::module_& m);
void bind_callbacks(pybind11::module_& m);
void bind_dlpack(pybind11::module_& m);
void bind_simulate(pybind11::module_& m);

}  // namespace armillary
