// Passes and the interpreter.
#include <pybind11/stl.h>

#include "xla_core/analysis/graph.h"
#include "xla_core/base/dump.h"
#include "xla_core/compile/compiler.h"
#include "xla_core/hlo/text.h"
#include "xla_core/interp/interpreter.h"
#include "xla_core/pybind/arrays.h"
#include "xla_core/pybind/bind.h"

namespace py = pybind11;
using namespace py::literals;

namespace armillary {
namespace {

py::list records_of(const std::vector<PassRecord>& records) {
  py::list out;
  for (const PassRecord& r : records)
    out.append(py::dict("pipeline"_a = r.pipeline, "pass"_a = r.pass, "seconds"_a = r.seconds,
                        "rewrites"_a = r.rewrites, "instructions_before"_a = r.instructions_before,
                        "instructions_after"_a = r.instructions_after, "changed"_a = r.changed));
  return out;
}

// On a copy: the module that was given stays as it is.
py::tuple run_passes(const Module& given, const std::string& passes, bool verify_each,
                     const std::string& dump_dir) {
  register_all_passes();
  std::shared_ptr<Module> module = given.clone();
  XlaFlags dump_flags;
  dump_flags.dump_to = dump_dir;
  dump_flags.dump_text = true;
  dump_flags.dump_pass_regex = ".*";
  Dumper dumper(next_module_number(), module->name(), dump_flags);
  PassContext context;
  context.verify_each = verify_each;
  context.fuel.limit = flags().pass_fuel;
  context.disabled = xla_flags().disabled_passes;
  if (!dump_dir.empty())
    context.dump = [&](const Module& m, std::string_view pipeline, std::string_view after,
                       std::string_view before) {
      dumper.dump_pass(pipeline, after, before, [&](DumpFormat) { return print(m); });
    };
  {
    py::gil_scoped_release nogil;
    verify(*module);
    if (!dump_dir.empty()) dumper.dump("before_optimizations", [&](DumpFormat) { return print(*module); });
    run_pipeline(*module, passes, context);
    if (!dump_dir.empty()) dumper.dump("after_optimizations", [&](DumpFormat) { return print(*module); });
  }
  return py::make_tuple(module, records_of(context.records));
}

py::object evaluate_module(const Module& module, const std::vector<py::array>& arrays) {
  std::vector<Literal> leaves;
  for (const py::array& array : arrays) leaves.push_back(literal_of(array));
  const ProgramShape shape = module.entry()->program_shape();
  size_t wanted = 0;
  for (const Shape& parameter : shape.parameters)
    for (const Shape* leaf : leaves_of(parameter)) wanted += leaf->is_array();
  if (leaves.size() != wanted)
    throw user_error("{} takes {} arrays, not {}", module.name(), wanted, leaves.size());
  std::vector<Literal> arguments;
  size_t next = 0;
  for (const Shape& parameter : shape.parameters) arguments.push_back(nest(parameter, leaves, next));
  Literal result;
  {
    py::gil_scoped_release nogil;
    result = evaluate(module, arguments);
  }
  return value_of(result);
}

}  // namespace

void bind_run(py::module_& m) {
  m.def("run_passes", run_passes, "module"_a, "passes"_a, "verify_each"_a = true, "dump_dir"_a = "",
        "Runs \"a,b,fixpoint(c,d)\" on a copy: (the new module, a record per pass).");
  m.def("evaluate", evaluate_module, "module"_a, "arrays"_a,
        "The interpreter: one array per array leaf of the parameters; the result as an array or nested "
        "tuples.");
}

}  // namespace armillary
