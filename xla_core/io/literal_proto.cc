#include "xla_core/io/literal_proto.h"

#include <cstring>

#include "xla_core/base/error.h"
#include "xla_core/io/shape_proto.h"
#include "xla_core/shape/index.h"

namespace armillary {
namespace {

using P = proto::LiteralProto;

// The `bytes` field of a dtype that has one.
struct BytesField {
  DType dtype;
  const std::string& (P::*get)() const;
  std::string* (P::*mutate)();
};

constexpr BytesField kBytesFields[] = {
    {DType::kS1, &P::s1s, &P::mutable_s1s},
    {DType::kS2, &P::s2s, &P::mutable_s2s},
    {DType::kS4, &P::s4s, &P::mutable_s4s},
    {DType::kS8, &P::s8s, &P::mutable_s8s},
    {DType::kS16, &P::s16s, &P::mutable_s16s},
    {DType::kU1, &P::u1s, &P::mutable_u1s},
    {DType::kU2, &P::u2s, &P::mutable_u2s},
    {DType::kU4, &P::u4s, &P::mutable_u4s},
    {DType::kU8, &P::u8s, &P::mutable_u8s},
    {DType::kU16, &P::u16s, &P::mutable_u16s},
    {DType::kF16, &P::f16s, &P::mutable_f16s},
    {DType::kBF16, &P::bf16s, &P::mutable_bf16s},
    {DType::kF4E2M1FN, &P::f4e2m1fns, &P::mutable_f4e2m1fns},
    {DType::kF8E3M4, &P::f8e3m4s, &P::mutable_f8e3m4s},
    {DType::kF8E4M3, &P::f8e4m3s, &P::mutable_f8e4m3s},
    {DType::kF8E4M3FN, &P::f8e4m3fns, &P::mutable_f8e4m3fns},
    {DType::kF8E4M3B11FNUZ, &P::f8e4m3b11fnuzs, &P::mutable_f8e4m3b11fnuzs},
    {DType::kF8E4M3FNUZ, &P::f8e4m3fnuzs, &P::mutable_f8e4m3fnuzs},
    {DType::kF8E5M2, &P::f8e5m2s, &P::mutable_f8e5m2s},
    {DType::kF8E5M2FNUZ, &P::f8e5m2fnuzs, &P::mutable_f8e5m2fnuzs},
    {DType::kF8E8M0FNU, &P::f8e8m0fnus, &P::mutable_f8e8m0fnus},
};

// The repeated field of a wider dtype as (data, number of bytes); complex numbers are pairs.
struct Bytes {
  const void* data;
  int64_t size;
};

template <class Repeated>
Bytes bytes_of(const Repeated& field) {
  return {field.data(), static_cast<int64_t>(field.size() * sizeof(*field.data()))};
}

Bytes source_of(const P& p, DType dtype) {
  for (const BytesField& row : kBytesFields)
    if (row.dtype == dtype) return {(p.*row.get)().data(), static_cast<int64_t>((p.*row.get)().size())};
  switch (dtype) {
    case DType::kPred:
      return bytes_of(p.preds());
    case DType::kS32:
      return bytes_of(p.s32s());
    case DType::kS64:
      return bytes_of(p.s64s());
    case DType::kU32:
      return bytes_of(p.u32s());
    case DType::kU64:
      return bytes_of(p.u64s());
    case DType::kF32:
      return bytes_of(p.f32s());
    case DType::kF64:
      return bytes_of(p.f64s());
    case DType::kC64:
      return bytes_of(p.c64s());
    case DType::kC128:
      return bytes_of(p.c128s());
    default:
      throw user_error("there are no literals of type {}", to_string(dtype));
  }
}

template <class Repeated>
void fill(Repeated* field, const std::string& data) {
  using T = std::remove_cv_t<std::remove_pointer_t<decltype(field->data())>>;
  field->Resize(static_cast<int>(data.size() / sizeof(T)), T());
  if (!data.empty()) std::memcpy(field->mutable_data(), data.data(), data.size());
}

void store(P* p, DType dtype, std::string data) {
  for (const BytesField& row : kBytesFields)
    if (row.dtype == dtype) return void(*(p->*row.mutate)() = std::move(data));
  switch (dtype) {
    case DType::kPred:
      return fill(p->mutable_preds(), data);
    case DType::kS32:
      return fill(p->mutable_s32s(), data);
    case DType::kS64:
      return fill(p->mutable_s64s(), data);
    case DType::kU32:
      return fill(p->mutable_u32s(), data);
    case DType::kU64:
      return fill(p->mutable_u64s(), data);
    case DType::kF32:
      return fill(p->mutable_f32s(), data);
    case DType::kF64:
      return fill(p->mutable_f64s(), data);
    case DType::kC64:
      return fill(p->mutable_c64s(), data);
    case DType::kC128:
      return fill(p->mutable_c128s(), data);
    default:
      throw unsupported_error("a literal of type {} has no wire form", to_string(dtype));
  }
}

// Calls fn(row-major position, position in memory) for each element of a shape with a layout that is not
// row-major.
template <class Fn>
void walk_layout(const Shape& shape, Fn&& fn) {
  Dims strides(shape.rank());
  int64_t stride = 1;
  for (int64_t d : shape.layout->minor_to_major) {
    strides[d] = stride;
    stride *= shape.dims[d];
  }
  int64_t logical = 0;
  for_each_index(shape.dims, [&](std::span<const int64_t> index) {
    int64_t physical = 0;
    for (size_t d = 0; d < index.size(); ++d) physical += index[d] * strides[d];
    fn(logical++, physical);
  });
}

bool in_order(const Shape& shape) { return !shape.layout || shape.layout->is_row_major(); }

// On the wire a narrow integer is its low bits alone; in our memory it may be extended by its sign.
bool is_narrow(DType dtype) { return bit_width(dtype) < 8 && dtype != DType::kPred; }

}  // namespace

Literal literal_from_proto(const P& p) {
  const Shape shape = shape_from_proto(p.shape());
  if (shape.is_tuple()) {
    if (p.tuple_literals_size() != static_cast<int>(shape.tuple.size()))
      throw user_error("a literal of shape {} has {} elements", to_string(shape), p.tuple_literals_size());
    std::vector<Literal> elements;
    for (const P& element : p.tuple_literals()) elements.push_back(literal_from_proto(element));
    return Literal::make_tuple(std::move(elements));
  }
  if (shape.is_token()) return Literal(shape);
  const int64_t want = shape.byte_size(), width = byte_size(shape.dtype);
  const Bytes source = source_of(p, shape.dtype);
  if (source.size != want)
    throw user_error("a literal of shape {} needs {} elements, but has {}", to_string(shape),
                     shape.num_elements(), source.size / width);
  Literal literal(shape);
  const auto* from = static_cast<const std::byte*>(source.data);
  if (in_order(shape)) {
    if (want > 0) std::memcpy(literal.bytes(), from, want);
  } else {
    walk_layout(shape, [&](int64_t logical, int64_t physical) {
      std::memcpy(literal.bytes() + logical * width, from + physical * width, width);
    });
  }
  if (is_narrow(shape.dtype) && is_integer(shape.dtype))
    for (int64_t i = 0; i < literal.size(); ++i)
      literal.set_int(i, static_cast<int64_t>(std::to_integer<uint8_t>(literal.bytes()[i])));
  return literal;
}

void literal_to_proto(const Literal& literal, const Shape& shape, P* p) {
  if (literal.elided()) throw user_error("a constant elided as {{...}} has no value to write");
  if (literal.is_tuple()) {
    shape_to_proto(shape, p->mutable_shape());
    for (size_t i = 0; i < literal.tuple().size(); ++i)
      literal_to_proto(literal.tuple()[i],
                       i < shape.tuple.size() ? shape.tuple[i] : literal.tuple()[i].shape(),
                       p->add_tuple_literals());
    return;
  }
  shape_to_proto(shape, p->mutable_shape());
  if (shape.is_token()) return;
  const int64_t width = byte_size(shape.dtype);
  std::string data(literal.size_bytes(), '\0');
  if (in_order(shape)) {
    if (!data.empty()) std::memcpy(data.data(), literal.bytes(), data.size());
  } else {
    walk_layout(shape, [&](int64_t logical, int64_t physical) {
      std::memcpy(&data[physical * width], literal.bytes() + logical * width, width);
    });
  }
  if (is_narrow(shape.dtype))
    for (char& c : data) c &= static_cast<char>((1 << bit_width(shape.dtype)) - 1);
  store(p, shape.dtype, std::move(data));
}

}  // namespace armillary
