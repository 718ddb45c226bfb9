// The parts of armillary._core, one function a concept, called in order by module.cc.
#pragma once

#include <pybind11/pybind11.h>

namespace armillary {

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
