// Shapes and layouts from HLO text: f32[2,<=8,?]{1,0:T(8,128)S(3)}, tuples of them, tokens.
#include <algorithm>

#include "xla_core/hlo/parse_parts.h"
#include "xla_core/hlo/text.h"

namespace armillary {
namespace {

// What follows a shape in braces is its layout only when it begins with a number or a colon: `f32[] { ...`
// opens a body.
bool at_layout(Scanner& in) {
  if (in.peek() != '{') return false;
  const size_t before = in.position();
  in.advance();
  const char c = in.peek();
  bool layout = is_digit(c) || c == ':';
  if (c == '}') {  // f32[]{} in old dumps: a layout, unless it stands for an empty body at the end of a line
    in.advance();
    layout = in.raw_peek() == ' ' || in.raw_peek() == ',' || in.raw_peek() == ')';
  }
  in.seek(before);
  return layout;
}

Dims read_tile(Scanner& in) {
  Dims tile;
  do {
    tile.push_back(in.accept('*') ? Layout::kCombineDim : in.integer("a tile size or *"));
    if (tile.back() < 1 && tile.back() != Layout::kCombineDim)
      throw in.error(in.position(), "expected a tile size of at least 1, found {}", tile.back());
  } while (in.accept(','));
  in.expect(')', "after a tile");
  return tile;
}

int64_t read_parenthesized(Scanner& in, std::string_view what) {
  in.expect('(', "in a layout");
  const int64_t value = in.integer(what);
  if (value < 0) throw in.error(in.position(), "expected {}, found a negative number", what);
  in.expect(')', "in a layout");
  return value;
}

// Fields after the colon, in the grammar's fixed order (which we do not insist on).
void read_layout_fields(Scanner& in, Layout& layout) {
  while (in.peek() != '}') {
    const size_t begin = in.next_position();
    if (in.accept("SC") || in.accept('D') || in.accept('P') || in.accept('M') || in.accept('#') ||
        in.accept('*')) {
      in.balanced("a layout field");
      layout.other += in.since(begin);
    } else if (in.accept('T')) {
      while (in.accept('(')) layout.tiles.push_back(read_tile(in));
      if (layout.tiles.empty()) throw in.expected("'(' after T");
    } else if (in.accept('L')) {
      layout.tail_padding_alignment = read_parenthesized(in, "an alignment");
    } else if (in.accept('E')) {
      layout.element_bits = read_parenthesized(in, "a number of bits");
    } else if (in.accept('S')) {
      layout.memory_space = read_parenthesized(in, "a memory space");
    } else {
      throw in.expected("a layout field (D, T, L, #, *, E, S, SC, P or M)");
    }
  }
}

Layout read_layout(Scanner& in, int64_t rank) {
  Layout layout;
  const size_t begin = in.next_position();
  in.expect('{', "before a layout");
  if (in.at_integer()) {
    do layout.minor_to_major.push_back(in.integer("a dimension"));
    while (in.accept(','));
  }
  if (in.accept(':')) read_layout_fields(in, layout);
  in.expect('}', "after a layout");
  const int64_t given = static_cast<int64_t>(layout.minor_to_major.size());
  if (given != rank && !(rank == 0 && given == 0))
    throw in.error(begin, "the layout names {} dimensions, but the shape has {}", given, rank);
  std::vector<bool> seen(rank, false);
  for (const int64_t d : layout.minor_to_major) {
    if (d < 0 || d >= rank)
      throw in.error(begin, "the layout names dimension {}, but the shape has {}", d, rank);
    if (seen[d]) throw in.error(begin, "the layout names dimension {} twice", d);
    seen[d] = true;
  }
  return layout;
}

void read_dimension(Scanner& in, Shape& shape, bool& any_dynamic) {
  if (in.accept('?')) {
    shape.dims.push_back(Shape::kUnbounded);
    shape.dynamic.push_back(true);
    any_dynamic = true;
    return;
  }
  const bool bounded = in.accept("<=");
  const size_t begin = in.next_position();
  const int64_t size = in.integer("a dimension size");
  if (size < 0) throw in.error(begin, "expected a dimension size, found {}", size);
  shape.dims.push_back(size);
  shape.dynamic.push_back(bounded);
  any_dynamic |= bounded;
}

// Its bytes can be counted, so that nobody behind needs to fear an overflow.
void check_size(Scanner& in, size_t begin, const Shape& shape) {
  try {
    shape.byte_size();
  } catch (const Error& e) {
    throw Error(e.kind(), in.where(begin), e.message());
  }
}

Shape read_array(Scanner& in) {
  const size_t begin = in.next_position();
  const std::string_view word = in.identifier("a shape");
  const std::optional<DType> dtype = dtype_from_name(word);
  if (!dtype || *dtype == DType::kTuple || *dtype == DType::kInvalid)
    throw in.error(begin, "expected a shape, found '{}', which is no element type", word.substr(0, 40));
  Shape shape = Shape::scalar(*dtype);
  in.expect('[', "after an element type");
  bool any_dynamic = false;
  if (in.peek() != ']') {
    do read_dimension(in, shape, any_dynamic);
    while (in.accept(','));
  }
  in.expect(']', "after the dimensions");
  if (!any_dynamic) shape.dynamic.clear();
  const bool bounded = std::find(shape.dims.begin(), shape.dims.end(), Shape::kUnbounded) == shape.dims.end();
  if (shape.is_array() && bounded) check_size(in, begin, shape);
  if (!shape.is_array() && !shape.dims.empty()) throw in.error(begin, "expected no dimensions in {}[]", word);
  if (at_layout(in)) {
    Layout layout = read_layout(in, shape.rank());
    if (shape.is_array()) shape.layout = std::move(layout);
  }
  return shape;
}

}  // namespace

bool at_shape(Scanner& in) {
  if (in.peek() == '(') return true;
  const std::string_view word = in.peek_identifier();
  if (word.empty()) return false;
  const size_t before = in.position();
  in.seek(before + word.size());
  const char next = in.peek();
  in.seek(before);
  return next == '[' || (next == '(' && word == "b");
}

Shape read_shape(Scanner& in) {
  Scanner::Nest nest(in, "shapes");
  if (in.accept('(')) {
    std::vector<Shape> elements;
    if (in.peek() != ')') {
      do elements.push_back(read_shape(in));
      while (in.accept(','));
    }
    in.expect(')', "after the elements of a tuple shape");
    return Shape::make_tuple(std::move(elements));
  }
  if (in.peek_identifier() == "b") {
    in.identifier();
    in.expect('(', "in a buffer shape");
    Shape shape = read_shape(in);
    shape.is_buffer = true;
    in.expect(')', "after a buffer shape");
    return shape;
  }
  return read_array(in);
}

bool same_array(const Shape& a, const Shape& b) {
  if (a.dtype != b.dtype || a.dims != b.dims || a.tuple.size() != b.tuple.size()) return false;
  for (size_t i = 0; i < a.tuple.size(); ++i)
    if (!same_array(a.tuple[i], b.tuple[i])) return false;
  return true;
}

Shape parse_shape(std::string_view text) {
  Scanner in(text, "shape", ParseOptions().max_nesting);
  Shape shape = read_shape(in);
  if (!in.at_end()) throw in.expected("the end of the shape");
  return shape;
}

}  // namespace armillary
