#include "xla_core/io/vhlo/values.h"

#include <cstring>

namespace armillary::vhlo {
namespace {

void expect(const Attribute& a, bool fits, std::string_view what) {
  if (!fits) throw user_error("expected {}, found an attribute of kind {}", what, static_cast<int>(a.kind));
}

bool is_element_type(const Type* type) { return type != nullptr && type->kind == TypeKind::kElement; }

// Bits of pred are packed, eight a byte, but for files that some older writers made.
bool is_packed(const Attribute& tensor, int64_t elements) {
  const auto bytes = static_cast<int64_t>(tensor.data.size());
  return is_pred(tensor.type->shape.dtype) && bytes == (elements + 7) / 8 && bytes != elements;
}

void unpack(Bytes data, Literal& literal) {
  for (int64_t i = 0; i < literal.size(); ++i) literal.bytes()[i] = (data[i / 8] >> (i % 8)) & std::byte{1};
}

// A byte of the file holds a narrow integer's bits; ours holds its value.
void normalise(Literal& literal) {
  const DType dtype = literal.dtype();
  const int bits = bit_width(dtype);
  if (is_pred(dtype)) {
    for (int64_t i = 0; i < literal.size(); ++i)
      if (literal.bytes()[i] != std::byte{0}) literal.bytes()[i] = std::byte{1};
    return;
  }
  if (bits >= 8 || !is_integer(dtype)) return;
  for (std::byte& b : literal.data<std::byte>()) {
    const auto high = static_cast<int8_t>(static_cast<uint8_t>(b) << (8 - bits));
    b = is_signed(dtype) ? static_cast<std::byte>(high >> (8 - bits))
                         : static_cast<std::byte>(static_cast<uint8_t>(high) >> (8 - bits));
  }
}

}  // namespace

int64_t integer_of(const Attribute& a) {
  expect(
      a,
      a.kind == AttributeKind::kInteger || a.kind == AttributeKind::kBool || a.kind == AttributeKind::kEnum,
      "an integer");
  return a.number;
}

double real_of(const Attribute& a) {
  expect(a, a.kind == AttributeKind::kFloat && is_element_type(a.type), "a number");
  return decode_float(a.type->shape.dtype, static_cast<uint64_t>(a.number));
}

std::string_view bytes_of(const Attribute& a) {
  expect(a, a.kind == AttributeKind::kString || a.kind == AttributeKind::kSymbol, "a text");
  return a.text;
}

std::string_view text_of(const Attribute& a) {
  if (!is_utf8(bytes_of(a))) throw user_error("a string that should be text is none");
  return a.text;
}

const std::vector<const Attribute*>& items_of(const Attribute& a) {
  expect(a, a.kind == AttributeKind::kArray, "a list");
  return a.items;
}

const Shape& shape_of(const Type& type) {
  if (!type.is_value()) throw unsupported_error("a value of a type that HLO does not have");
  return type.shape;
}

bool is_splat(const Attribute& tensor) {
  expect(tensor, tensor.kind == AttributeKind::kTensor, "a tensor");
  const Shape& shape = shape_of(*tensor.type);
  const int64_t elements = shape.num_elements();
  if (elements <= 1 || static_cast<int64_t>(tensor.data.size()) != byte_size(shape.dtype)) return false;
  // All bits set, or none: a pred that is the same everywhere.
  return !is_pred(shape.dtype) || tensor.data[0] == std::byte{0xff} || elements > 8;
}

Literal splat_element(const Attribute& tensor) {
  Literal literal(Shape::scalar(tensor.type->shape.dtype));
  std::memcpy(literal.bytes(), tensor.data.data(), tensor.data.size());
  normalise(literal);
  return literal;
}

Literal literal_of(const Attribute& tensor) {
  expect(tensor, tensor.kind == AttributeKind::kTensor, "a tensor");
  const Shape& shape = shape_of(*tensor.type);
  if (!shape.is_array() || shape.is_dynamic()) throw user_error("a constant of type {}", to_string(shape));
  const int64_t elements = shape.num_elements(), bytes = shape.byte_size();
  const bool splat = is_splat(tensor), packed = elements > 0 && !splat && is_packed(tensor, elements);
  if (elements > 0 && !splat && !packed && static_cast<int64_t>(tensor.data.size()) != bytes)
    throw user_error("a constant of type {} with {} bytes", to_string(shape), tensor.data.size());
  Literal literal(shape);
  const int64_t size = byte_size(shape.dtype);
  if (splat) {
    for (int64_t i = 0; i < elements; ++i) std::memcpy(literal.bytes() + i * size, tensor.data.data(), size);
  } else if (packed) {
    unpack(tensor.data, literal);
  } else if (bytes > 0) {
    std::memcpy(literal.bytes(), tensor.data.data(), bytes);
  }
  normalise(literal);
  return literal;
}

Dims ints_of(const Attribute& a) {
  Dims list;
  if (a.kind == AttributeKind::kArray) {
    for (const Attribute* item : a.items) list.push_back(integer_of(*item));
    return list;
  }
  // The splat of an attribute is short by its nature: one number a dimension.
  constexpr int64_t kMost = 1 << 20;
  expect(a, a.kind == AttributeKind::kTensor, "a list of integers");
  if (!is_integral(shape_of(*a.type).dtype)) throw user_error("a list of integers that holds other numbers");
  if (is_splat(a) && a.type->shape.num_elements() > kMost)
    throw user_error("a list of {} integers", a.type->shape.num_elements());
  const Literal literal = literal_of(a);
  list.resize(static_cast<size_t>(literal.size()));
  for (int64_t i = 0; i < literal.size(); ++i) list[i] = literal.get_int(i);
  return list;
}

std::vector<Dims> rows_of(const Attribute& a) {
  expect(a, a.kind == AttributeKind::kTensor, "a list of lists of integers");
  const Dims flat = ints_of(a);
  const Shape& shape = shape_of(*a.type);
  if (shape.rank() != 2) throw user_error("a list of lists of type {}", to_string(shape));
  constexpr int64_t kMost = 1 << 20;
  if (shape.dims[0] > kMost) throw user_error("a list of {} lists", shape.dims[0]);
  std::vector<Dims> rows(static_cast<size_t>(shape.dims[0]));
  for (size_t r = 0; r < rows.size(); ++r)
    rows[r].assign(flat.begin() + r * shape.dims[1], flat.begin() + (r + 1) * shape.dims[1]);
  return rows;
}

}  // namespace armillary::vhlo
