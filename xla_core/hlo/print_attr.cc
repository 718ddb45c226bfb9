// Attribute values and metadata as HLO text.
#include <algorithm>

#include "xla_core/hlo/print_parts.h"

namespace armillary {
namespace {

void append_ints(std::string& out, const Dims& values) {
  out += '{';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) out += ',';
    out += std::to_string(values[i]);
  }
  out += '}';
}

void append_names(std::string& out, const std::vector<std::string>& names) {
  out += '{';
  for (size_t i = 0; i < names.size(); ++i) (out += i ? "," : "") += names[i];
  out += '}';
}

// A window field, left out when every dimension has the default.
template <class Default, class Text>
void append_window_field(std::string& out, const Window& window, std::string_view field, Default is_default,
                         Text text) {
  if (std::all_of(window.dims.begin(), window.dims.end(), is_default)) return;
  if (out.back() != '{') out += ' ';
  (out += field) += '=';
  for (size_t d = 0; d < window.dims.size(); ++d) (out += d ? "x" : "") += text(window.dims[d]);
}

void append_window(std::string& out, const Window& window) {
  auto never = [](const WindowDim&) { return false; };
  auto number = [](int64_t WindowDim::* field) {
    return [field](const WindowDim& d) { return std::to_string(d.*field); };
  };
  auto is_one = [](int64_t WindowDim::* field) {
    return [field](const WindowDim& d) { return d.*field == 1; };
  };
  out += '{';
  if (!window.dims.empty()) {
    append_window_field(out, window, "size", never, number(&WindowDim::size));
    append_window_field(out, window, "stride", is_one(&WindowDim::stride), number(&WindowDim::stride));
    append_window_field(
        out, window, "pad", [](const WindowDim& d) { return d.pad_low == 0 && d.pad_high == 0; },
        [](const WindowDim& d) { return fmt::format("{}_{}", d.pad_low, d.pad_high); });
    append_window_field(out, window, "lhs_dilate", is_one(&WindowDim::lhs_dilate),
                        number(&WindowDim::lhs_dilate));
    append_window_field(out, window, "rhs_dilate", is_one(&WindowDim::rhs_dilate),
                        number(&WindowDim::rhs_dilate));
    append_window_field(
        out, window, "rhs_reversal", [](const WindowDim& d) { return !d.reversal; },
        [](const WindowDim& d) { return std::string(d.reversal ? "1" : "0"); });
  }
  out += '}';
}

std::string labels(int64_t first, char first_label, int64_t second, char second_label, const Dims& spatial) {
  int64_t rank = std::max(first, second) + 1;
  for (const int64_t d : spatial) rank = std::max(rank, d + 1);
  std::string text(static_cast<size_t>(rank), '?');
  text[first] = first_label;
  text[second] = second_label;
  for (size_t i = 0; i < spatial.size(); ++i) text[spatial[i]] = static_cast<char>('0' + i);
  return text;
}

void append_conv_dims(std::string& out, const ConvDims& d) {
  out += labels(d.input_batch, 'b', d.input_feature, 'f', d.input_spatial) + '_';
  out += labels(d.kernel_input_feature, 'i', d.kernel_output_feature, 'o', d.kernel_spatial) + "->";
  out += labels(d.output_batch, 'b', d.output_feature, 'f', d.output_spatial);
}

void append_slices(std::string& out, const Slices& slices) {
  out += '{';
  for (size_t i = 0; i < slices.size(); ++i) {
    const SliceDim& s = slices[i];
    out += fmt::format("{}[{}:{}", i ? ", " : "", s.start, s.limit);
    if (s.stride != 1) out += fmt::format(":{}", s.stride);
    out += ']';
  }
  out += '}';
}

void append_padding(std::string& out, const Padding& padding) {
  // XLA writes the interior in every dimension or in none.
  const bool interior =
      std::any_of(padding.begin(), padding.end(), [](const PadDim& p) { return p.interior != 0; });
  for (size_t i = 0; i < padding.size(); ++i) {
    out += fmt::format("{}{}_{}", i ? "x" : "", padding[i].low, padding[i].high);
    if (interior) out += fmt::format("_{}", padding[i].interior);
  }
}

// One overload an alternative of AttrValue.
struct ValueAppender {
  std::string& out;
  AttrKind kind;
  bool layouts;

  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(int64_t value) const { out += std::to_string(value); }
  void operator()(double value) const { out += fmt::format("{}", value); }
  void operator()(const std::string& value) const {
    if (kind == AttrKind::String)
      out += '"' + escape(value) + '"';
    else
      out += value;
  }
  void operator()(const std::vector<std::string>& value) const { append_names(out, value); }
  void operator()(const Dims& value) const { append_ints(out, value); }
  void operator()(const Window& value) const { append_window(out, value); }
  void operator()(const ConvDims& value) const { append_conv_dims(out, value); }
  void operator()(const Slices& value) const { append_slices(out, value); }
  void operator()(const Padding& value) const { append_padding(out, value); }
  void operator()(const RawText& value) const { out += value.quoted ? '"' + value.text + '"' : value.text; }
  void operator()(const Shape& value) const { out += to_string(value, layouts); }
  void operator()(Computation*) const {}
  void operator()(const std::vector<Computation*>&) const {}
};

}  // namespace

void append_attr_value(std::string& out, Attr attr, const AttrValue& value, bool layouts) {
  std::visit(ValueAppender{out, kind_of(attr), layouts}, value);
}

void append_metadata(std::string& out, const Metadata& m) {
  if (m.empty()) return;
  std::string fields;
  auto field = [&](std::string_view name, const std::string& value) {
    fields += fmt::format(" {}={}", name, value);
  };
  auto text = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) field(name, '"' + escape(value) + '"');
  };
  auto number = [&](std::string_view name, int64_t value) {
    if (value != 0) field(name, std::to_string(value));
  };
  text("op_type", m.op_type);
  text("op_name", m.op_name);
  text("source_file", m.source_file);
  number("source_line", m.source_line);
  number("source_end_line", m.source_end_line);
  number("source_column", m.source_column);
  number("source_end_column", m.source_end_column);
  if (!m.other.empty()) fields += ' ' + m.other;
  text("deduplicated_name", m.deduplicated_name);
  text("scheduling_name", m.scheduling_name);
  number("stack_frame_id", m.stack_frame_id);
  out += ", metadata={" + fields.substr(1) + '}';
}

}  // namespace armillary
