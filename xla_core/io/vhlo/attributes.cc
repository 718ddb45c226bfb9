#include "xla_core/io/vhlo/attributes.h"

#include <algorithm>
#include <bit>

#include "xla_core/hlo/scanner.h"

namespace armillary::vhlo {
namespace {

// Stack frames of a user's program nest; a file that nests deeper than this was not made by one.
constexpr int kMaxNesting = 1000;

// StableHLO's only type of its own (StablehloBytecode.cpp): Shardy's ops keep it where VHLO's have another.
constexpr uint64_t kStablehloToken = 0;

struct Level {
  explicit Level(int& depth) : depth_(depth) {
    if (++depth_ > kMaxNesting) {
      --depth_;
      throw user_error("attributes or types nest deeper than {}", kMaxNesting);
    }
  }
  ~Level() { --depth_; }
  int& depth_;
};

}  // namespace

Attributes::Attributes(const Sections& sections, Ir& ir) : sections_(sections), ir_(ir) {
  ByteReader offsets = sections.section(SectionId::kAttrTypeOffset);
  ByteReader data = sections.section(SectionId::kAttrType);
  attributes_.resize(offsets.count(), {{}, data});
  types_.resize(offsets.count(), {{}, data});
  read_entries(offsets, data, attributes_);
  read_entries(offsets, data, types_);
}

template <class T>
void Attributes::read_entries(ByteReader& offsets, ByteReader& data, std::vector<Entry<T>>& entries) {
  for (size_t next = 0; next < entries.size();) {
    const std::string_view dialect = sections_.dialect(offsets.varint());
    const uint64_t n = offsets.varint();
    if (n > entries.size() - next) throw user_error("more attributes or types than were announced");
    for (uint64_t i = 0; i < n; ++i, ++next) {
      const Flagged size = offsets.flagged();
      entries[next] = {dialect, data.part(size.value), size.flag};
    }
  }
}

template <class T, class Decode>
const T* Attributes::decoded(std::vector<Entry<T>>& entries, uint64_t index, std::string_view what,
                             Decode decode) {
  Entry<T>& entry = Sections::at(entries, index, what);
  if (entry.done != nullptr) return entry.done;
  if (entry.open) throw user_error("{} {} contains itself", what, index);
  const Level level(depth_);
  entry.open = true;
  T value;
  decode(entry, value);
  entry.open = false;
  if constexpr (std::is_same_v<T, Attribute>)
    return entry.done = &ir_.attributes.emplace_back(std::move(value));
  else
    return entry.done = &ir_.types.emplace_back(std::move(value));
}

const Attribute* Attributes::attribute(uint64_t index) {
  return decoded(attributes_, index, "attribute", [this](Entry<Attribute>& entry, Attribute& out) {
    ByteReader in = entry.data;
    if (!entry.custom) {
      out.kind = AttributeKind::kText;
      out.text = in.null_terminated();
    } else if (entry.dialect == "vhlo") {
      decode_vhlo(in, *this, out);
    } else if (entry.dialect == "builtin") {
      decode_builtin(in, *this, out);
    } else if (entry.dialect == "sdy") {
      decode_sdy(in, *this, out);
    } else {
      throw unsupported_error("an attribute of the dialect {}", entry.dialect);
    }
  });
}

const Type* Attributes::type(uint64_t index) {
  return decoded(types_, index, "type", [this](Entry<Type>& entry, Type& out) {
    ByteReader in = entry.data;
    if (!entry.custom) throw unsupported_error("the type {}", escape(in.null_terminated()));
    if (entry.dialect == "vhlo")
      decode_vhlo(in, *this, out);
    else if (entry.dialect == "builtin")
      decode_builtin(in, *this, out);
    else if (entry.dialect == "stablehlo" && in.varint() == kStablehloToken)
      out.kind = TypeKind::kToken, out.shape = Shape::token();
    else
      throw unsupported_error("a type of the dialect {}", entry.dialect);
  });
}

const Attribute* Attributes::read_optional(ByteReader& in) {
  const Flagged index = in.flagged();
  return index.flag ? attribute(index.value) : nullptr;
}

std::vector<const Attribute*> Attributes::read_attributes(ByteReader& in) {
  std::vector<const Attribute*> list(in.count());
  for (const Attribute*& a : list) a = read_attribute(in);
  return list;
}

std::vector<const Type*> Attributes::read_types(ByteReader& in) {
  std::vector<const Type*> list(in.count());
  for (const Type*& t : list) t = read_type(in);
  return list;
}

void Attributes::spend_leaves(size_t n) {
  constexpr size_t kMost = 1 << 20;
  if ((leaves_ += n) > kMost) throw resource_error("tuples of more than {} elements", kMost);
}

Dims read_signed_list(ByteReader& in) {
  Dims list(in.count());
  for (int64_t& n : list) n = in.signed_varint();
  return list;
}

int64_t read_integer(ByteReader& in, const Type& type) {
  if (type.kind == TypeKind::kIndex) return in.signed_varint();
  const DType dtype = type.kind == TypeKind::kElement ? type.shape.dtype : DType::kInvalid;
  if (!is_integral(dtype)) throw user_error("an integer has a type that is none");
  const int bits = is_pred(dtype) ? 1 : bit_width(dtype);
  const uint64_t raw = bits <= 8 ? in.byte() : static_cast<uint64_t>(in.signed_varint());
  const uint64_t high = raw << (64 - bits);
  return is_signed(dtype) ? static_cast<int64_t>(high) >> (64 - bits)
                          : static_cast<int64_t>(high >> (64 - bits));
}

int64_t read_float_bits(ByteReader& in, const Type& type) {
  if (type.kind != TypeKind::kElement || !is_float(type.shape.dtype))
    throw user_error("a floating-point number has a type that is none");
  const int bits = bit_width(type.shape.dtype);
  if (bits <= 8) return in.byte();
  return static_cast<int64_t>(static_cast<uint64_t>(in.signed_varint()) << (64 - bits) >> (64 - bits));
}

double read_double(ByteReader& in) { return std::bit_cast<double>(in.signed_varint()); }

void become_element(Type& type, DType dtype) {
  type.kind = TypeKind::kElement;
  type.shape = Shape::scalar(dtype);
}

void become_complex(Type& type, const Type* part) {
  const DType dtype = part->kind == TypeKind::kElement ? part->shape.dtype : DType::kInvalid;
  if (dtype != DType::kF32 && dtype != DType::kF64)
    throw user_error("a complex type of parts that are no floats");
  become_element(type, complex_of(dtype));
}

void decode_tensor_type(ByteReader& in, Attributes& table, Type& out, const Attribute* encoding) {
  Dims dims = read_signed_list(in);
  become_tensor(out, std::move(dims), table.read_type(in), encoding);
}

void decode_function_type(ByteReader& in, Attributes& table, Type& out) {
  out.kind = TypeKind::kFunction;
  out.items = table.read_types(in);
  out.inputs = out.items.size();
  for (const Type* result : table.read_types(in)) out.items.push_back(result);
}

// Bounds stand where a dimension is dynamic; without one it is unbounded.
void become_tensor(Type& type, Dims dims, const Type* element, const Attribute* encoding) {
  constexpr int64_t kNoBound = Shape::kUnbounded;  // MLIR marks dynamic dimensions with the same number
  constexpr size_t kMaxRank = 100;
  if (dims.size() > kMaxRank) throw unsupported_error("a tensor of {} dimensions", dims.size());
  const bool is_index = element->kind == TypeKind::kIndex;  // layouts are lists of them
  type.quantization = element->quantization;
  if (element->kind != TypeKind::kElement && !is_index && type.quantization == nullptr)
    throw user_error("a tensor of elements that are none");
  type.kind = TypeKind::kTensor;
  type.shape = Shape(is_index ? DType::kS64 : element->shape.dtype, std::move(dims));
  if (encoding != nullptr && encoding->kind != AttributeKind::kBounds)
    throw unsupported_error("a tensor with an encoding that says more than bounds");
  for (size_t d = 0; d < type.shape.dims.size(); ++d) {
    int64_t& size = type.shape.dims[d];
    if (size == kNoBound) {
      type.shape.dynamic.resize(type.shape.dims.size(), false);
      type.shape.dynamic[d] = true;
      if (encoding != nullptr && d < encoding->numbers.size()) size = encoding->numbers[d];
    }
    if (size < 0 && size != kNoBound) throw user_error("a tensor with a dimension of size {}", size);
  }
  const Dims& sizes = type.shape.dims;
  if (const Quantization* q = type.quantization.get(); q != nullptr && q->axis != -1)  // (C12), (C13)
    if (q->axis < 0 || q->axis >= type.shape.rank() || sizes[q->axis] != std::ssize(q->scales))
      throw user_error("{} scales along dimension {} of {}", q->scales.size(), q->axis,
                       to_string(type.shape));
  if (std::find(sizes.begin(), sizes.end(), kNoBound) == sizes.end())
    type.shape.num_elements();  // throws when nobody can count them
}

void become_tuple(Attributes& table, Type& type, std::vector<const Type*> items) {
  std::vector<Shape> shapes;
  for (const Type* item : items) {
    if (!item->is_value()) throw user_error("a tuple of something that is no value");
    table.spend_leaves(leaves_of(item->shape).size() + 1);
    shapes.push_back(item->shape);
  }
  type.kind = TypeKind::kTuple;
  type.shape = Shape::make_tuple(std::move(shapes));
  type.items = std::move(items);
}

const Attribute* named(const Attribute* name) {
  if (name->kind != AttributeKind::kString || !is_utf8(name->text))
    throw user_error("an entry of a dictionary whose name is no text");
  return name;
}

}  // namespace armillary::vhlo
