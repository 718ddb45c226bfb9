#include "xla_core/shape/shape.h"

#include <algorithm>

#include "xla_core/base/error.h"

namespace armillary {

Shape Shape::make_tuple(std::vector<Shape> elements) {
  Shape s;
  s.dtype = DType::kTuple;
  s.tuple = std::move(elements);
  return s;
}

Shape Shape::token() {
  Shape s;
  s.dtype = DType::kToken;
  return s;
}

bool Shape::is_dynamic() const {
  auto unbounded = [](int64_t d) { return d == kUnbounded; };
  if (std::any_of(dims.begin(), dims.end(), unbounded)) return true;
  if (std::find(dynamic.begin(), dynamic.end(), true) != dynamic.end()) return true;
  return std::any_of(tuple.begin(), tuple.end(), [](const Shape& s) { return s.is_dynamic(); });
}

int64_t Shape::num_elements() const {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  int64_t n = 1;
  for (int64_t d : dims) {
    if (d == kUnbounded) throw user_error("{} has no bound, so it has no size", to_string(*this));
    if (d < 0 || __builtin_mul_overflow(n, d, &n))
      throw user_error("{} has too many elements", to_string(*this));
  }
  return n;
}

int64_t Shape::byte_size() const {
  int64_t bytes = 0;
  if (is_tuple()) {
    for (const Shape& s : tuple)
      if (__builtin_add_overflow(bytes, s.byte_size(), &bytes))
        throw user_error("{} is too large", to_string(*this));
    return bytes;
  }
  if (__builtin_mul_overflow(num_elements(), static_cast<int64_t>(armillary::byte_size(dtype)), &bytes))
    throw user_error("{} is too large", to_string(*this));
  return bytes;
}

const Shape& Shape::at(std::span<const int64_t> index) const {
  const Shape* s = this;
  for (int64_t i : index) {
    if (i < 0 || i >= static_cast<int64_t>(s->tuple.size()))
      throw user_error("{} has no element {}", to_string(*s), i);
    s = &s->tuple[i];
  }
  return *s;
}

bool Shape::compatible(const Shape& other) const {
  if (dtype != other.dtype || dims != other.dims || tuple.size() != other.tuple.size()) return false;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool mine = d < dynamic.size() && dynamic[d], theirs = d < other.dynamic.size() && other.dynamic[d];
    if (mine != theirs) return false;
  }
  for (size_t i = 0; i < tuple.size(); ++i)
    if (!tuple[i].compatible(other.tuple[i])) return false;
  return true;
}

Shape Shape::with_dtype(DType d) const {
  Shape s = *this;
  s.dtype = d;
  return s;
}

Shape Shape::without_layout() const {
  Shape s = *this;
  s.layout.reset();
  for (Shape& element : s.tuple) element = element.without_layout();
  return s;
}

namespace {

void append_array(std::string& out, const Shape& shape, bool with_layout) {
  out += to_string(shape.dtype);
  out += '[';
  for (size_t d = 0; d < shape.dims.size(); ++d) {
    if (d) out += ',';
    if (shape.dims[d] == Shape::kUnbounded) {
      out += '?';
      continue;
    }
    if (d < shape.dynamic.size() && shape.dynamic[d]) out += "<=";
    out += std::to_string(shape.dims[d]);
  }
  out += ']';
  if (!with_layout || !shape.layout) return;
  const std::string layout = to_string(*shape.layout);
  if (layout != "{}") out += layout;
}

void append_shape(std::string& out, const Shape& shape, bool with_layout) {
  if (shape.is_buffer) out += "b(";
  if (shape.is_tuple()) {
    out += '(';
    for (size_t i = 0; i < shape.tuple.size(); ++i) {
      if (i) out += ", ";
      if (i && i % 5 == 0)
        out += "/*index=" + std::to_string(i) + "*/";  // XLA's aid for readers of long tuples
      append_shape(out, shape.tuple[i], with_layout);
    }
    out += ')';
  } else {
    append_array(out, shape, with_layout);
  }
  if (shape.is_buffer) out += ')';
}

}  // namespace

std::string to_string(const Shape& shape, bool with_layout) {
  std::string out;
  append_shape(out, shape, with_layout);
  return out;
}

Dims strides_of(std::span<const int64_t> dims) {
  Dims strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  return strides;
}

namespace {

void collect_leaves(const Shape& shape, std::vector<const Shape*>& out) {
  if (!shape.is_tuple()) {
    out.push_back(&shape);
    return;
  }
  for (const Shape& element : shape.tuple) collect_leaves(element, out);
}

}  // namespace

std::vector<const Shape*> leaves_of(const Shape& shape) {
  std::vector<const Shape*> leaves;
  collect_leaves(shape, leaves);
  return leaves;
}

}  // namespace armillary
