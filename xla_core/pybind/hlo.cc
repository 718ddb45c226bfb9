// Modules, computations and instructions to walk through.
#include "xla_core/pybind/hlo.h"

#include <pybind11/stl.h>

#include "xla_core/analysis/graph.h"
#include "xla_core/hlo/text.h"
#include "xla_core/hlo/verify.h"
#include "xla_core/io/proto.h"
#include "xla_core/io/vhlo/vhlo.h"
#include "xla_core/pybind/arrays.h"
#include "xla_core/pybind/bind.h"

namespace py = pybind11;
using namespace py::literals;

namespace armillary {
namespace {

using C = ComputationHandle;
using I = InstructionHandle;

// Attribute values as Python's own types; one overload an alternative of AttrValue.
struct ToPython {
  const std::shared_ptr<Module>& module;

  template <class T>
  py::object operator()(const T& plain) const {
    return py::cast(plain);
  }
  py::object operator()(const RawText& raw) const { return py::str(raw.text); }
  py::object operator()(Computation* c) const { return py::cast(C{module, c}); }
  py::object operator()(const std::vector<Computation*>& all) const {
    py::list out;
    for (Computation* c : all) out.append(C{module, c});
    return out;
  }
  py::object operator()(const Window& window) const {
    py::list out;
    for (const WindowDim& d : window.dims)
      out.append(py::dict("size"_a = d.size, "stride"_a = d.stride, "pad_low"_a = d.pad_low,
                          "pad_high"_a = d.pad_high, "lhs_dilate"_a = d.lhs_dilate,
                          "rhs_dilate"_a = d.rhs_dilate, "reversal"_a = d.reversal));
    return out;
  }
  py::object operator()(const ConvDims& d) const {
    return py::dict("input_batch"_a = d.input_batch, "input_feature"_a = d.input_feature,
                    "input_spatial"_a = d.input_spatial, "kernel_input_feature"_a = d.kernel_input_feature,
                    "kernel_output_feature"_a = d.kernel_output_feature,
                    "kernel_spatial"_a = d.kernel_spatial, "output_batch"_a = d.output_batch,
                    "output_feature"_a = d.output_feature, "output_spatial"_a = d.output_spatial);
  }
  py::object operator()(const Slices& slices) const {
    py::list out;
    for (const SliceDim& d : slices) out.append(py::make_tuple(d.start, d.limit, d.stride));
    return out;
  }
  py::object operator()(const Padding& padding) const {
    py::list out;
    for (const PadDim& d : padding) out.append(py::make_tuple(d.low, d.high, d.interior));
    return out;
  }
};

py::dict attributes(const I& i) {
  py::dict out;
  for (const auto& [attr, value] : i.instruction->attrs())
    out[py::str(std::string(to_string(attr)))] = std::visit(ToPython{i.module}, value);
  return out;
}

py::dict metadata(const I& i) {
  const Metadata& m = i.instruction->metadata();
  py::dict out;
  auto text = [&](const char* name, const std::string& value) {
    if (!value.empty()) out[name] = value;
  };
  auto number = [&](const char* name, int64_t value) {
    if (value != 0) out[name] = value;
  };
  text("op_type", m.op_type);
  text("op_name", m.op_name);
  text("source_file", m.source_file);
  number("source_line", m.source_line);
  number("source_end_line", m.source_end_line);
  number("source_column", m.source_column);
  number("source_end_column", m.source_end_column);
  number("stack_frame_id", m.stack_frame_id);
  text("deduplicated_name", m.deduplicated_name);
  text("scheduling_name", m.scheduling_name);
  return out;
}

py::object python_place(const I& i) {
  const std::string place = i.instruction->python_place();
  return place.empty() ? py::object(py::none()) : py::object(py::str(place));
}

// Handles of a range of instructions or computations.
template <class Handle, class Range>
py::list handles(const std::shared_ptr<Module>& module, const Range& range) {
  py::list out;
  for (auto* part : range) out.append(Handle{module, part});
  return out;
}

void bind_instruction(py::module_& m) {
  py::class_<I>(m, "Instruction", made_by_the_core(), "One HLO instruction.")
      .def_property_readonly("name", [](const I& i) { return i.instruction->name(); })
      .def_property_readonly("op", [](const I& i) { return std::string(to_string(i.instruction->op())); })
      .def_property_readonly("shape", [](const I& i) { return i.instruction->shape(); })
      .def_property_readonly("operands",
                             [](const I& i) { return handles<I>(i.module, i.instruction->operands()); })
      .def_property_readonly("users", [](const I& i) { return handles<I>(i.module, i.instruction->users()); })
      .def_property_readonly("callees",
                             [](const I& i) { return handles<C>(i.module, i.instruction->callees()); })
      .def_property_readonly(
          "control_predecessors",
          [](const I& i) { return handles<I>(i.module, i.instruction->control_predecessors()); })
      .def_property_readonly("attributes", attributes, "By HLO's names, as Python values.")
      .def_property_readonly("metadata", metadata,
                             "Where it comes from: op_name, source_file, source_line, ...")
      .def_property_readonly("python_place", python_place, "The user's Python line, None when unknown.")
      .def_property_readonly("is_root", [](const I& i) { return i.instruction->is_root(); })
      .def_property_readonly("has_effect", [](const I& i) { return i.instruction->has_effect(); })
      .def_property_readonly("computation", [](const I& i) { return C{i.module, i.instruction->parent()}; })
      .def_property_readonly("parameter_number",
                             [](const I& i) -> std::optional<int64_t> {
                               if (!i.instruction->is(Op::parameter)) return std::nullopt;
                               return i.instruction->parameter_number();
                             })
      .def_property_readonly(
          "literal",
          [](const I& i) -> py::object {
            if (!i.instruction->is(Op::constant)) return py::none();
            return value_of(i.instruction->literal());
          },
          "The value of a constant as an array, else None.")
      .def(
          "__eq__", [](const I& a, const I& b) { return a.instruction == b.instruction; }, py::is_operator())
      .def("__hash__", [](const I& i) { return std::hash<const void*>()(i.instruction); })
      .def("__str__", [](const I& i) { return print(*i.instruction); })
      .def("__repr__", [](const I& i) { return "<Instruction " + print(*i.instruction) + ">"; });
}

void bind_computation(py::module_& m) {
  py::class_<C>(m, "Computation", made_by_the_core(), "A list of instructions, operands before users.")
      .def_property_readonly("name", [](const C& c) { return c.computation->name(); })
      .def_property_readonly("instructions",
                             [](const C& c) { return handles<I>(c.module, c.computation->instructions()); })
      .def_property_readonly("parameters",
                             [](const C& c) { return handles<I>(c.module, c.computation->parameters()); })
      .def_property_readonly("root", [](const C& c) { return I{c.module, c.computation->root()}; })
      .def_property_readonly("is_entry", [](const C& c) { return c.computation->is_entry(); })
      .def_property_readonly("parameter_shapes",
                             [](const C& c) { return c.computation->program_shape().parameters; })
      .def_property_readonly("result_shape", [](const C& c) { return c.computation->program_shape().result; })
      .def("__len__", [](const C& c) { return c.computation->size(); })
      .def("__iter__",
           [](const C& c) { return py::iter(handles<I>(c.module, c.computation->instructions())); })
      .def(
          "__eq__", [](const C& a, const C& b) { return a.computation == b.computation; }, py::is_operator())
      .def("__hash__", [](const C& c) { return std::hash<const void*>()(c.computation); })
      .def("__str__", [](const C& c) { return print(*c.computation); })
      .def("__repr__", [](const C& c) { return "<Computation " + c.computation->name() + ">"; });
}

std::string to_text(const Module& m, bool operand_shapes, bool layouts, bool show_metadata, bool percent,
                    int64_t max_constant_elements) {
  py::gil_scoped_release nogil;
  return print(m, {percent, operand_shapes, layouts, show_metadata, max_constant_elements});
}

Stage stage_from_name(const std::string& name) {
  std::string known;
  for (Stage s : {Stage::kParsed, Stage::kExpanded, Stage::kPartitioned, Stage::kLaidOut, Stage::kFused,
                  Stage::kScheduled}) {
    if (to_string(s) == name) return s;
    known += (known.empty() ? "" : ", ") + std::string(to_string(s));
  }
  throw user_error("there is no stage '{}'; there are: {}", name, known);
}

std::shared_ptr<Module> parse_module(const std::string& text, const std::string& file,
                                     bool fill_elided_constants) {
  py::gil_scoped_release nogil;
  std::shared_ptr<Module> module =
      parse(text, {.file = file, .fill_elided_constants = fill_elided_constants});
  module->file = file;
  return module;
}

// What `read` gives, from `file`; its errors, which know no file, name it.
template <class Read>
std::shared_ptr<Module> read_from(const std::string& file, Read&& read) {
  py::gil_scoped_release nogil;
  try {
    std::shared_ptr<Module> module = read();
    module->file = file;
    return module;
  } catch (const Error& e) {
    if (file.empty()) throw;
    throw Error(e.kind(), e.where().empty() ? file : fmt::format("{}: {}", file, e.where()), e.message());
  }
}

std::shared_ptr<Module> module_from_proto(const py::bytes& data, const std::string& file) {
  const std::string_view bytes = data;
  return read_from(file, [&] { return from_proto(bytes); });
}

std::shared_ptr<Module> module_from_stablehlo(const py::bytes& artifact, const std::string& file) {
  const std::string_view bytes = artifact;
  return read_from(file, [&] { return from_stablehlo_artifact(std::as_bytes(std::span(bytes))); });
}

void bind_module(py::module_& m) {
  py::class_<Module, std::shared_ptr<Module>>(m, "Module", made_by_the_core(), "A whole HLO program.")
      .def_static("parse", &parse_module, "text"_a, "file"_a = "", "fill_elided_constants"_a = false,
                  "From HLO text; `file` is named in messages. Raises UserError with line and column.")
      .def_static("from_proto", &module_from_proto, "data"_a, "file"_a = "",
                  "From the bytes of an HloModuleProto, or of an HloProto around one.")
      .def_static(
          "from_stablehlo", &module_from_stablehlo, "artifact"_a, "file"_a = "",
          "From a StableHLO portable artifact. Raises UnsupportedError for versions it does not know.")
      .def("to_text", &to_text, "operand_shapes"_a = false, "layouts"_a = true, "metadata"_a = true,
           "percent"_a = true, "max_constant_elements"_a = -1, "HLO text that XLA reads, too.")
      .def(
          "to_proto", [](const Module& mod) { return py::bytes(to_proto(mod)); },
          "The bytes of an HloModuleProto.")
      .def("to_dot", &to_dot, "A Graphviz picture.")
      .def("to_html", &to_html, "A page that needs nothing but a browser.")
      .def(
          "verify", [](const Module& mod, const std::string& stage) { verify(mod, stage_from_name(stage)); },
          "stage"_a = std::string(to_string(Stage::kParsed)), "Raises UserError at the first broken law.")
      .def("fill_elided_constants", &fill_elided_constants,
           "Gives constants that a dump left out as {...} small repeating values; says how many there were.")
      .def("clone", [](const Module& mod) { return std::shared_ptr<Module>(mod.clone()); })
      .def("__copy__", [](const Module& mod) { return std::shared_ptr<Module>(mod.clone()); })
      .def("__deepcopy__",
           [](const Module& mod, const py::dict&) { return std::shared_ptr<Module>(mod.clone()); })
      .def_property_readonly("name", &Module::name)
      .def_readonly("file", &Module::file, "Where it was read from; for messages.")
      .def_property_readonly(
          "computations",
          [](const std::shared_ptr<Module>& mod) { return handles<C>(mod, mod->computations()); },
          "Callees before callers; the entry comes last.")
      .def_property_readonly("entry", [](const std::shared_ptr<Module>& mod) { return C{mod, mod->entry()}; })
      .def_property_readonly("instruction_count", &Module::instruction_count)
      .def_readonly("is_scheduled", &Module::is_scheduled)
      .def_readonly("replica_count", &Module::replica_count)
      .def_readonly("num_partitions", &Module::num_partitions)
      .def_readonly("frontend_attributes", &Module::frontend_attributes)
      .def_property_readonly(
          "donated_parameters",
          [](const Module& mod) {
            std::vector<std::pair<int64_t, Dims>> out;
            for (const auto& a : mod.aliases) out.emplace_back(a.parameter, a.parameter_index);
            for (const auto& d : mod.donors) out.emplace_back(d.parameter, d.parameter_index);
            return out;
          },
          "(parameter, index into it) of what the program may overwrite.")
      .def("__str__", [](const Module& mod) { return print(mod); })
      .def("__repr__", [](const Module& mod) {
        return fmt::format("<Module {}: {} instructions>", mod.name(), mod.instruction_count());
      });
}

}  // namespace

void bind_hlo(py::module_& m) {
  bind_instruction(m);
  bind_computation(m);
  bind_module(m);
}

}  // namespace armillary
