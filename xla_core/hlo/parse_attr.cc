// Attribute values from HLO text, by kind; and metadata, which has a syntax of its own.
#include <algorithm>

#include "xla_core/hlo/parse_parts.h"

namespace armillary {
namespace {

// window={size=2x2 stride=1x2 pad=0_1x0_0 ...}: per field one value a dimension, separated by x.
template <class Read>
void read_window_field(Scanner& in, Window& window, std::string_view field, Read read) {
  size_t d = 0;
  do {
    if (d == window.dims.size()) window.dims.emplace_back();
    read(window.dims[d++]);
    if (in.raw_peek() != 'x') break;
    in.advance();
  } while (true);
  if (d != window.dims.size())
    throw in.error(in.position(), "window field {} has {} dimensions, the fields before it have {}", field, d,
                   window.dims.size());
}

int64_t read_at_least(Scanner& in, int64_t least, std::string_view what) {
  const size_t begin = in.next_position();
  const int64_t value = in.integer(what);
  if (value < least) throw in.error(begin, "expected {} of at least {}, found {}", what, least, value);
  return value;
}

Window read_window(Scanner& in) {
  Window window;
  in.expect('{', "before a window");
  while (!in.accept('}')) {
    const size_t begin = in.next_position();
    const std::string_view field = in.identifier("a window field or '}'");
    in.expect('=', "after a window field");
    if (field == "size") {
      read_window_field(in, window, field,
                        [&](WindowDim& d) { d.size = read_at_least(in, 0, "a window size"); });
    } else if (field == "stride") {
      read_window_field(in, window, field,
                        [&](WindowDim& d) { d.stride = read_at_least(in, 1, "a stride"); });
    } else if (field == "pad") {
      read_window_field(in, window, field, [&](WindowDim& d) {
        d.pad_low = in.integer("a low padding");
        in.expect('_', "between low and high padding");
        d.pad_high = in.integer("a high padding");
      });
    } else if (field == "lhs_dilate") {
      read_window_field(in, window, field,
                        [&](WindowDim& d) { d.lhs_dilate = read_at_least(in, 1, "a dilation"); });
    } else if (field == "rhs_dilate") {
      read_window_field(in, window, field,
                        [&](WindowDim& d) { d.rhs_dilate = read_at_least(in, 1, "a dilation"); });
    } else if (field == "rhs_reversal") {
      read_window_field(in, window, field, [&](WindowDim& d) { d.reversal = in.integer("0 or 1") != 0; });
    } else {
      throw in.error(begin, "expected size, stride, pad, lhs_dilate, rhs_dilate or rhs_reversal, found '{}'",
                     field);
    }
  }
  return window;
}

// One of the three parts of b01f_01io->b01f. Letters give positions, digits are spatial dimensions in order,
// ? is in no role.
struct DimLabels {
  int64_t first = -1, second = -1;
  Dims spatial;
};

DimLabels read_labels(Scanner& in, char first, char second) {
  DimLabels labels;
  const size_t begin = in.position();
  for (int64_t position = 0;; ++position) {
    const char c = in.raw_peek();
    if (c == first && labels.first < 0) {
      labels.first = position;
    } else if (c == second && labels.second < 0) {
      labels.second = position;
    } else if (is_digit(c)) {
      const size_t d = c - '0';
      if (labels.spatial.size() <= d) labels.spatial.resize(d + 1, -1);
      if (labels.spatial[d] >= 0) throw in.error(begin, "dim_labels name spatial dimension {} twice", d);
      labels.spatial[d] = position;
    } else if (c != '?') {
      break;
    }
    in.advance();
  }
  if (labels.first < 0 || labels.second < 0 ||
      std::count(labels.spatial.begin(), labels.spatial.end(), -1) != 0)
    throw in.error(begin, "expected dim_labels with {}, {} and the spatial dimensions 0, 1, ..., found '{}'",
                   first, second, in.since(begin));
  return labels;
}

ConvDims read_conv_dims(Scanner& in) {
  const size_t begin = in.next_position();
  const DimLabels input = read_labels(in, 'b', 'f');
  if (in.raw_peek() != '_') throw in.expected("'_' in dim_labels");
  in.advance();
  const DimLabels kernel = read_labels(in, 'i', 'o');
  in.expect("->", "in dim_labels");
  const DimLabels output = read_labels(in, 'b', 'f');
  if (input.spatial.size() != kernel.spatial.size() || input.spatial.size() != output.spatial.size())
    throw in.error(begin, "dim_labels {} name different numbers of spatial dimensions", in.since(begin));
  ConvDims dims;
  dims.input_batch = input.first;
  dims.input_feature = input.second;
  dims.input_spatial = input.spatial;
  dims.kernel_input_feature = kernel.first;
  dims.kernel_output_feature = kernel.second;
  dims.kernel_spatial = kernel.spatial;
  dims.output_batch = output.first;
  dims.output_feature = output.second;
  dims.output_spatial = output.spatial;
  return dims;
}

// {[0:10:2],[3:4]}
Slices read_slices(Scanner& in) {
  Slices slices;
  in.expect('{', "before the slices");
  if (in.accept('}')) return slices;
  do {
    SliceDim s;
    in.expect('[', "before a slice");
    s.start = in.integer("a slice start");
    in.expect(':', "after a slice start");
    s.limit = in.integer("a slice limit");
    if (in.accept(':')) s.stride = in.integer("a slice stride");
    in.expect(']', "after a slice");
    slices.push_back(s);
  } while (in.accept(','));
  in.expect('}', "after the slices");
  return slices;
}

// 0_1x2_3_1: low_high[_interior] per dimension; nothing for a scalar.
Padding read_padding(Scanner& in) {
  Padding padding;
  if (!in.at_integer()) return padding;
  do {
    PadDim p;
    p.low = in.integer("a low padding");
    in.expect('_', "between low and high padding");
    p.high = in.integer("a high padding");
    if (in.raw_peek() == '_') {
      in.advance();
      p.interior = read_at_least(in, 0, "an interior padding");
    }
    padding.push_back(p);
    if (in.raw_peek() != 'x') break;
    in.advance();
  } while (true);
  return padding;
}

std::vector<std::string> read_names(Scanner& in) {
  std::vector<std::string> names;
  in.expect('{', "before a list of names");
  if (in.accept('}')) return names;
  do names.emplace_back(in.identifier("a name"));
  while (in.accept(','));
  in.expect('}', "after a list of names");
  return names;
}

}  // namespace

Dims read_ints(Scanner& in, std::string_view what) {
  Dims values;
  if (!in.accept('{')) throw in.expected(fmt::format("'{{' before {}", what));
  if (in.accept('}')) return values;
  do values.push_back(in.integer(what));
  while (in.accept(','));
  if (!in.accept('}')) throw in.expected(fmt::format("',' or '}}' in {}", what));
  return values;
}

AttrValue read_attr_value(Scanner& in, Attr attr) {
  const std::string_view name = to_string(attr);
  switch (kind_of(attr)) {
    case AttrKind::Bool:
      return in.boolean(name);
    case AttrKind::Int:
      return in.integer(fmt::format("an integer for {}", name));
    case AttrKind::Float:
      return in.real(fmt::format("a number for {}", name));
    case AttrKind::Name:
      return std::string(in.identifier(fmt::format("a name for {}", name)));
    case AttrKind::Names:
      return read_names(in);
    case AttrKind::String:
      return in.string(fmt::format("a quoted string for {}", name));
    case AttrKind::Ints:
      return read_ints(in, fmt::format("the integers of {}", name));
    case AttrKind::Window:
      return read_window(in);
    case AttrKind::ConvDims:
      return read_conv_dims(in);
    case AttrKind::Slices:
      return read_slices(in);
    case AttrKind::Padding:
      return read_padding(in);
    case AttrKind::Shape:
      return read_shape(in);
    case AttrKind::Raw: {
      const size_t begin = in.next_position();
      RawText raw = read_raw(in, fmt::format("a value for {}", name));
      check_raw(in, begin, attr, raw);
      return raw;
    }
    case AttrKind::Callee:
    case AttrKind::Callees:
      break;
  }
  throw internal_error("attribute {} names computations, which the module's reader resolves", name);
}

Metadata read_metadata(Scanner& in) {
  Metadata m;
  in.expect('{', "before metadata");
  while (!in.accept('}')) {
    const size_t begin = in.next_position();
    const std::string_view field = in.identifier("a metadata field or '}'");
    in.expect('=', "after a metadata field");
    if (field == "op_type")
      m.op_type = in.string("a quoted string");
    else if (field == "op_name")
      m.op_name = in.string("a quoted string");
    else if (field == "source_file")
      m.source_file = in.string("a quoted string");
    else if (field == "source_line")
      m.source_line = in.integer("a line");
    else if (field == "source_end_line")
      m.source_end_line = in.integer("a line");
    else if (field == "source_column")
      m.source_column = in.integer("a column");
    else if (field == "source_end_column")
      m.source_end_column = in.integer("a column");
    else if (field == "stack_frame_id")
      m.stack_frame_id = in.integer("a frame number");
    else if (field == "deduplicated_name")
      m.deduplicated_name = in.string("a quoted string");
    else if (field == "scheduling_name")
      m.scheduling_name = in.string("a quoted string");
    else {
      read_raw(in, "a metadata value");
      if (!m.other.empty()) m.other += ' ';
      m.other += in.since(begin);
    }
    in.accept(',');  // XLA writes none, people do
  }
  return m;
}

}  // namespace armillary
