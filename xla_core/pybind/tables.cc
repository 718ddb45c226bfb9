// What there is: ops, passes, targets, flags, as lists of dicts.
#include <pybind11/stl.h>

#include "xla_core/base/flags.h"
#include "xla_core/compile/compiler.h"
#include "xla_core/ops/op.h"
#include "xla_core/pybind/bind.h"

namespace py = pybind11;
using namespace py::literals;

namespace armillary {
namespace {

std::string text(std::string_view s) { return std::string(s); }

std::string_view meaning_name(Meaning meaning) {
  switch (meaning) {
    case Meaning::kScalar:
      return "scalar";
    case Meaning::kIndex:
      return "index";
    case Meaning::kFactors:
      return "factors";
    case Meaning::kExpand:
      return "expand";
    case Meaning::kSpecial:
      return "special";
  }
  return "unknown";
}

py::list names_of(const std::vector<Attr>& attrs) {
  py::list out;
  for (Attr a : attrs) out.append(text(to_string(a)));
  return out;
}

py::list list_ops() {
  py::list out;
  for (const OpDef& op : all_ops())
    out.append(py::dict("name"_a = text(op.name), "stablehlo"_a = text(op.stablehlo), "arity"_a = op.arity,
                        "attributes"_a = names_of(op.attrs), "optional"_a = names_of(op.optional),
                        "meaning"_a = text(meaning_name(op.meaning)), "doc"_a = text(op.doc),
                        "runs"_a = !op.has(kCannotRun)));
  return out;
}

py::list list_passes() {
  register_all_passes();
  py::list out;
  for (const PassRow& pass : all_passes())
    out.append(py::dict("name"_a = text(pass.name), "doc"_a = text(pass.doc), "needed"_a = pass.needed));
  return out;
}

py::list list_targets() {
  py::list out;
  for (const Target* t : all_targets())
    out.append(
        py::dict("name"_a = text(t->name), "doc"_a = text(t->doc), "unavailable"_a = text(t->unavailable)));
  return out;
}

py::list flag_rows() {
  py::list out;
  for (const FlagInfo& flag : list_flags())
    out.append(py::dict("name"_a = text(flag.name), "type"_a = text(flag.type),
                        "default"_a = text(flag.fallback), "doc"_a = text(flag.doc), "values"_a = flag.values,
                        "value"_a = flag.value));
  return out;
}

std::string get_flag(const std::string& name) {
  std::string known;
  for (const FlagInfo& flag : list_flags()) {
    if (flag.name == name) return flag.value;
    known += (known.empty() ? "" : ", ") + text(flag.name);
  }
  throw user_error("there is no flag '{}'; there are: {}", name, known);
}

}  // namespace

void bind_tables(py::module_& m) {
  m.def("list_ops", list_ops,
        "The op table: name, stablehlo, arity (-1: any), attributes, optional, meaning, doc, runs.");
  m.def("list_passes", list_passes, "The pass registry: name, doc, needed (no flag switches it off).");
  m.def("list_targets", list_targets,
        "What can be compiled for: name, doc, unavailable (why not, or empty).");
  m.def("list_flags", flag_rows,
        "The flags: name, type, default, doc, values (that it takes; empty: any), value.");
  m.def("get_flag", get_flag, "name"_a, "The value in force, as text.");
  m.def(
      "set_flag", [](const std::string& name, const std::string& value) { set_flag(name, value); }, "name"_a,
      "value"_a, "Sets one flag from text; raises UserError that names the nearest flag.");
  m.def(
      "set_flags", [](const std::string& flags) { set_flags(flags); }, "flags"_a,
      "Several, as in ARMILLARY_FLAGS: \"threads=4,verify_each=true\".");
}

}  // namespace armillary
