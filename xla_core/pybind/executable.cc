// Compile and run.
#include <pybind11/stl.h>

#include "xla_core/analysis/cost.h"
#include "xla_core/backends/cpu/native/blas.h"
#include "xla_core/client/client.h"
#include "xla_core/client/whole_arrays.h"
#include "xla_core/pybind/arrays.h"
#include "xla_core/pybind/bind.h"

namespace py = pybind11;
using namespace py::literals;

namespace armillary {
namespace {

std::shared_ptr<Executable> compile_module(const Module& module, const std::string& target, bool optimise) {
  py::gil_scoped_release nogil;
  CompileOptions options;
  options.target = target;
  options.optimise = optimise;
  return Executable::compile(module.clone(), options);
}

// Tokens carry nothing: nobody passes them.
std::vector<Argument> with_tokens(std::vector<Argument> arrays, const Program& program) {
  std::vector<Argument> out;
  size_t next = 0;
  for (const Shape& parameter : program.parameter_shapes)
    for (const Shape* leaf : leaves_of(parameter)) {
      if (!leaf->is_array())
        out.push_back({Literal(Shape::token()), false});
      else if (next < arrays.size())
        out.push_back(std::move(arrays[next++]));
    }
  for (; next < arrays.size(); ++next) out.push_back(std::move(arrays[next]));
  return out;
}

// Results in the order of the root's leaves; tokens are None.
py::list execute(const Executable& executable, const std::vector<py::array>& arrays,
                 const std::vector<bool>& donated) {
  std::vector<Argument> arguments;
  arguments.reserve(arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i)
    arguments.push_back({literal_of(arrays[i]), i < donated.size() && donated[i]});
  if (executable.program().num_devices() == 1)
    arguments = with_tokens(std::move(arguments), executable.program());
  std::vector<Literal> results;
  {
    py::gil_scoped_release nogil;
    results = executable.program().num_devices() == 1 ? executable.execute(arguments)
                                                      : execute_on_whole_arrays(executable, arguments);
  }
  py::list out(results.size());
  for (size_t i = 0; i < results.size(); ++i) out[i] = value_of(results[i]);
  return out;
}

py::dict cost_dict(const Module& module) {
  const Cost cost = cost_of(module);
  return py::dict("flops"_a = cost.flops, "transcendentals"_a = cost.transcendentals,
                  "bytes_accessed"_a = cost.bytes, "unknown_loops"_a = cost.unknown_loops);
}

py::dict memory(const Executable& executable) {
  const MemoryReport& r = executable.program().memory;
  return py::dict("argument_bytes"_a = r.argument_bytes, "output_bytes"_a = r.output_bytes,
                  "constant_bytes"_a = r.constant_bytes, "temporary_bytes"_a = r.temporary_bytes,
                  "alias_bytes"_a = r.alias_bytes, "code_bytes"_a = r.code_bytes,
                  "max_live_bytes"_a = r.max_live_bytes);
}

py::list kernels(const Executable& executable) {
  py::list out;
  for (const KernelReport& r : executable.program().kernels)
    out.append(py::dict("name"_a = r.name, "code_bytes"_a = r.code_bytes,
                        "compile_seconds"_a = r.compile_seconds, "uses"_a = r.uses));
  return out;
}

py::list pass_records(const Executable& executable) {
  py::list out;
  for (const PassRecord& r : executable.passes())
    out.append(py::dict("pipeline"_a = r.pipeline, "pass"_a = r.pass, "seconds"_a = r.seconds,
                        "rewrites"_a = r.rewrites, "instructions_before"_a = r.instructions_before,
                        "instructions_after"_a = r.instructions_after, "changed"_a = r.changed));
  return out;
}

}  // namespace

void bind_executable(py::module_& m) {
  py::class_<Executable, std::shared_ptr<Executable>>(m, "Executable", made_by_the_core(),
                                                      "A compiled program.")
      .def("execute", execute, "arrays"_a, "donated"_a = std::vector<bool>(),
           "One array per leaf of the parameters in, one per leaf of the result out.")
      .def("as_text", &Executable::as_text, "The optimised and scheduled HLO.")
      .def(
          "cost", [](const Executable& e) { return cost_dict(e.module()); },
          "flops, transcendentals, bytes_accessed, and loops whose trip count is unknown (counted once).")
      .def("memory", memory, "Bytes by use.")
      .def("kernels", kernels, "The machine code: name, code_bytes, compile_seconds, uses.")
      .def("passes", pass_records, "What each pass did and how long it took.")
      .def_property_readonly("module_name", [](const Executable& e) { return e.module().name(); })
      .def_property_readonly("compile_seconds", &Executable::compile_seconds)
      .def_property_readonly("last_rewrite", &Executable::last_rewrite,
                             "What flag pass_fuel stopped after; empty when it did not.")
      .def_property_readonly(
          "module", [](const Executable& e) { return std::shared_ptr<Module>(e.module().clone()); },
          "A copy of the optimised module.")
      .def_property_readonly("parameter_shapes",
                             [](const Executable& e) { return e.program().parameter_shapes; })
      .def_property_readonly("result_shape", [](const Executable& e) { return e.program().result_shape; });
  m.def("cost", cost_dict, "module"_a,
        "flops, transcendentals, bytes_accessed, unknown_loops of one execution.");
  m.def("load_blas", &native::load_blas, "path"_a,
        "Tells the cpu back end where OpenBLAS lies; False when it is none.");
  m.def("blas_loaded", &native::blas_loaded);
  m.def("compile", compile_module, "module"_a, "target"_a = "cpu", "optimise"_a = true,
        "Compiles a copy of the module.");
}

}  // namespace armillary
