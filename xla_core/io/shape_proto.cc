#include "xla_core/io/shape_proto.h"

#include "xla_core/base/error.h"
#include "xla_core/hlo/text.h"

namespace armillary {
namespace {

constexpr int kBufferType = 34;

// The layout fields we carry as text only, in the order in which the grammar wants them: D(..) #(..) *(..)
// SC(..) P(..) M(..).
std::string other_fields(const proto::LayoutProto& p) {
  std::string out;
  if (p.dim_level_types_size() > 0) {
    out += "D(";
    for (int i = 0; i < p.dim_level_types_size(); ++i) {
      const int type = p.dim_level_types(i);
      if (type < 0 || type > 3) throw user_error("layout: unknown dim level type {}", type);
      if (i) out += ',';
      out += "DCSH"[type];
      if (i < p.dim_unique_size() && !p.dim_unique(i)) out += '+';
      if (i < p.dim_ordered_size() && !p.dim_ordered(i)) out += '~';
    }
    out += ')';
  }
  auto index_type = [&](char mark, int number) {
    if (number == 0) return;
    const auto dtype = dtype_from_proto(number);
    if (!dtype || !is_unsigned(*dtype))
      throw user_error("layout: {} is no type for indices or pointers", number);
    out += fmt::format("{}({})", mark, to_string(*dtype));
  };
  index_type('#', p.index_primitive_type());
  index_type('*', p.pointer_primitive_type());
  for (const auto& split : p.split_configs())
    out += fmt::format("SC({}:{})", split.dimension(), fmt::join(split.split_indices(), ","));
  if (p.has_physical_shape()) out += "P(" + to_string(shape_from_proto(p.physical_shape()), true) + ")";
  if (p.dynamic_shape_metadata_prefix_bytes() > 0)
    out += fmt::format("M({})", p.dynamic_shape_metadata_prefix_bytes());
  return out;
}

Layout layout_from_proto(const proto::LayoutProto& p, int64_t rank) {
  Layout layout;
  layout.minor_to_major = dims_of(p.minor_to_major());
  std::vector<bool> seen(rank, false);
  for (int64_t d : layout.minor_to_major) {
    if (d < 0 || d >= rank || seen[d])
      throw user_error("layout {{{}}} does not order {} dimensions", fmt::join(layout.minor_to_major, ","),
                       rank);
    seen[d] = true;
  }
  if (static_cast<int64_t>(layout.minor_to_major.size()) != rank)
    throw user_error("layout {{{}}} does not order {} dimensions", fmt::join(layout.minor_to_major, ","),
                     rank);
  for (const auto& tile : p.tiles()) layout.tiles.push_back(dims_of(tile.dimensions()));
  layout.memory_space = p.memory_space();
  layout.element_bits = p.element_size_in_bits();
  layout.tail_padding_alignment =
      p.tail_padding_alignment_in_elements() == 0 ? 1 : p.tail_padding_alignment_in_elements();
  layout.other = other_fields(p);
  return layout;
}

// Reads back what other_fields wrote, one field at a time.
void other_fields_to_proto(std::string_view other, proto::LayoutProto* p) {
  auto fail = [&] { return user_error("layout: cannot read \"{}\"", other); };
  while (!other.empty()) {
    const size_t open = other.find('(');
    size_t close = open;
    for (int depth = 0; close < other.size(); ++close) {
      depth += (other[close] == '(') - (other[close] == ')');
      if (depth == 0) break;
    }
    if (open == std::string_view::npos || close >= other.size()) throw fail();
    const std::string_view kind = other.substr(0, open), inside = other.substr(open + 1, close - open - 1);
    other.remove_prefix(close + 1);
    if (kind == "D") {
      for (char c : inside) {
        const size_t type = std::string_view("DCSH").find(c);
        if (type != std::string_view::npos) {
          p->add_dim_level_types(static_cast<int>(type)), p->add_dim_unique(true), p->add_dim_ordered(true);
        } else if (p->dim_level_types_size() > 0 && (c == '+' || c == '~')) {
          (c == '+' ? p->mutable_dim_unique() : p->mutable_dim_ordered())
              ->Set(p->dim_level_types_size() - 1, false);
        }
      }
    } else if (kind == "#" || kind == "*") {
      const auto dtype = dtype_from_name(inside);
      if (!dtype) throw fail();
      kind == "#" ? p->set_index_primitive_type(info(*dtype).proto)
                  : p->set_pointer_primitive_type(info(*dtype).proto);
    } else if (kind == "SC") {
      const size_t colon = inside.find(':');
      if (colon == std::string_view::npos) throw fail();
      auto* split = p->add_split_configs();
      split->set_dimension(parse_int_list("{" + std::string(inside.substr(0, colon)) + "}").at(0));
      for (int64_t i : parse_int_list("{" + std::string(inside.substr(colon + 1)) + "}"))
        split->add_split_indices(i);
    } else if (kind == "P") {
      shape_to_proto(parse_shape(inside), p->mutable_physical_shape());
    } else if (kind == "M") {
      p->set_dynamic_shape_metadata_prefix_bytes(parse_int_list("{" + std::string(inside) + "}").at(0));
    } else {
      throw fail();
    }
  }
}

void layout_to_proto(const Layout& layout, proto::LayoutProto* p) {
  for (int64_t d : layout.minor_to_major) p->add_minor_to_major(d);
  for (const Dims& tile : layout.tiles) {
    auto* t = p->add_tiles();
    for (int64_t d : tile) t->add_dimensions(d);
  }
  p->set_memory_space(layout.memory_space);
  p->set_element_size_in_bits(layout.element_bits);
  p->set_tail_padding_alignment_in_elements(layout.tail_padding_alignment);
  other_fields_to_proto(layout.other, p);
}

}  // namespace

Shape shape_from_proto(const proto::ShapeProto& p) {
  if (p.element_type() == kBufferType) {
    if (p.tuple_shapes_size() != 1)
      throw user_error("a buffer shape wraps one shape, not {}", p.tuple_shapes_size());
    Shape inner = shape_from_proto(p.tuple_shapes(0));
    inner.is_buffer = true;
    return inner;
  }
  const auto dtype = dtype_from_proto(p.element_type());
  if (!dtype) throw unsupported_error("element type number {} is not known", p.element_type());
  Shape shape(*dtype, dims_of(p.dimensions()));
  if (!shape.is_array() && shape.rank() > 0) throw user_error("a {} has no dimensions", to_string(*dtype));
  if (!shape.is_tuple() && p.tuple_shapes_size() > 0)
    throw user_error("a {} has no elements", to_string(*dtype));
  if (p.is_dynamic_dimension_size() > 0 && p.is_dynamic_dimension_size() != shape.rank())
    throw user_error("{} of {} dimensions are said to be dynamic or not", p.is_dynamic_dimension_size(),
                     shape.rank());
  for (bool dynamic : p.is_dynamic_dimension())
    if (dynamic) shape.dynamic.assign(p.is_dynamic_dimension().begin(), p.is_dynamic_dimension().end());
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const bool unbounded = shape.dims[d] == Shape::kUnbounded && !shape.dynamic.empty() && shape.dynamic[d];
    if (shape.dims[d] < 0 && !unbounded)
      throw user_error("dimension {} of a {} has the negative size {}", d, to_string(*dtype), shape.dims[d]);
  }
  if (shape.is_array() && !shape.is_dynamic()) shape.byte_size();  // throws when it overflows
  if (shape.is_array() && p.has_layout()) {
    Layout layout = layout_from_proto(p.layout(), shape.rank());
    if (layout != Layout()) shape.layout = std::move(layout);  // a plain scalar has none, as in the text
  }
  for (const auto& element : p.tuple_shapes()) shape.tuple.push_back(shape_from_proto(element));
  return shape;
}

void shape_to_proto(const Shape& shape, proto::ShapeProto* p) {
  if (shape.is_buffer) {
    Shape inner = shape;
    inner.is_buffer = false;
    p->set_element_type(kBufferType);
    return shape_to_proto(inner, p->add_tuple_shapes());
  }
  p->set_element_type(info(shape.dtype).proto);
  for (int64_t d = 0; d < shape.rank(); ++d) {
    p->add_dimensions(shape.dims[d]);
    p->add_is_dynamic_dimension((!shape.dynamic.empty() && shape.dynamic[d]) ||
                                shape.dims[d] == Shape::kUnbounded);
  }
  if (shape.layout || (shape.is_array() && shape.dims.empty()))
    layout_to_proto(shape.layout.value_or(Layout()), p->mutable_layout());
  for (const Shape& element : shape.tuple) shape_to_proto(element, p->add_tuple_shapes());
}

ProgramShape program_shape_from_proto(const proto::ProgramShapeProto& p) {
  ProgramShape shape;
  for (const auto& parameter : p.parameters()) shape.parameters.push_back(shape_from_proto(parameter));
  shape.result = shape_from_proto(p.result());
  return shape;
}

void program_shape_to_proto(const ProgramShape& shape, proto::ProgramShapeProto* p) {
  for (const Shape& parameter : shape.parameters) shape_to_proto(parameter, p->add_parameters());
  shape_to_proto(shape.result, p->mutable_result());
}

}  // namespace armillary
