// The head of a module as HLO text: attributes in XLA's order, and the tables of stack frames.
#include <algorithm>

#include "xla_core/hlo/print_parts.h"

namespace armillary {
namespace {

std::string braced(const Dims& index) {
  std::string out = "{";
  for (size_t i = 0; i < index.size(); ++i) out += (i ? ", " : "") + std::to_string(index[i]);
  return out + '}';
}

void append_aliases(std::string& out, const Module& m) {
  if (!m.aliases.empty()) {
    out += ", input_output_alias={ ";
    for (size_t i = 0; i < m.aliases.size(); ++i) {
      const InputOutputAlias& a = m.aliases[i];
      out += fmt::format("{}{}: ({}, {}, {})", i ? ", " : "", braced(a.output_index), a.parameter,
                         braced(a.parameter_index), a.must ? "must-alias" : "may-alias");
    }
    out += " }";
  }
  if (!m.donors.empty()) {
    out += ", buffer_donor={ ";
    for (size_t i = 0; i < m.donors.size(); ++i)
      out += fmt::format("{}({}, {})", i ? ", " : "", m.donors[i].parameter,
                         braced(m.donors[i].parameter_index));
    out += " }";
  }
}

void append_entry_layout(std::string& out, const ProgramShape& shape) {
  out += ", entry_computation_layout={(";
  for (size_t i = 0; i < shape.parameters.size(); ++i) {
    if (i) out += ", ";
    if (i && i % 5 == 0) out += fmt::format("/*index={}*/", i);
    out += to_string(shape.parameters[i], true);
  }
  out += ")->" + to_string(shape.result, true) + '}';
}

// Attributes that we only carry, at the places where XLA writes them.
constexpr std::string_view kBeforeLayout[] = {"alias_passthrough_params"};
constexpr std::string_view kAfterLayout[] = {"allow_spmd_sharding_propagation_to_parameters",
                                             "allow_spmd_sharding_propagation_to_output"};

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void append_others(std::string& out, const Module& m, auto wanted) {
  for (const auto& [name, value] : m.other_attributes)
    if (wanted(name)) out += fmt::format(", {}={}", name, value);
}

void append_strings(std::string& out, std::string_view table, const std::vector<std::string>& rows) {
  out += fmt::format("{}\n", table);
  for (size_t i = 0; i < rows.size(); ++i) out += fmt::format("{} \"{}\"\n", i + 1, escape(rows[i]));
  out += '\n';
}

void append_stack_frames(std::string& out, const StackFrames& t) {
  if (t.empty()) return;
  out += '\n';
  append_strings(out, "FileNames", t.files);
  append_strings(out, "FunctionNames", t.functions);
  out += "FileLocations\n";
  for (size_t i = 0; i < t.locations.size(); ++i) {
    const StackFrames::Location& at = t.locations[i];
    out += fmt::format(
        "{} {{file_name_id={} function_name_id={} line={} end_line={} column={} end_column={}}}\n", i + 1,
        at.file, at.function, at.line, at.end_line, at.column, at.end_column);
  }
  out += "\nStackFrames\n";
  for (size_t i = 0; i < t.frames.size(); ++i)
    out += fmt::format("{} {{file_location_id={} parent_frame_id={}}}\n", i + 1, t.frames[i].location,
                       t.frames[i].parent + 1);
  out += '\n';
}

}  // namespace

void append_header(std::string& out, const Module& m) {
  out += "HloModule " + m.name();
  if (m.is_scheduled) out += ", is_scheduled=true";
  append_aliases(out, m);
  append_others(out, m, [](const std::string& n) { return contains(kBeforeLayout, n); });
  if (m.entry_layout) append_entry_layout(out, *m.entry_layout);
  append_others(out, m, [](const std::string& n) { return contains(kAfterLayout, n); });
  if (m.replica_count != 1) out += fmt::format(", replica_count={}", m.replica_count);
  if (m.num_partitions != 1) out += fmt::format(", num_partitions={}", m.num_partitions);
  if (!m.frontend_attributes.empty()) out += ", frontend_attributes=" + m.frontend_attributes;
  append_others(
      out, m, [](const std::string& n) { return !contains(kBeforeLayout, n) && !contains(kAfterLayout, n); });
  out += '\n';
  append_stack_frames(out, m.stack_frames);
}

}  // namespace armillary
