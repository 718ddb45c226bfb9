// The VHLO dialect's attributes and types; code numbers as in StableHLO's VhloBytecode.cpp.
#include "xla_core/io/vhlo/attributes.h"
#include "xla_core/io/vhlo/values.h"

namespace armillary::vhlo {
namespace {

enum AttributeCode : uint64_t {
  kArray = 1,
  kBool,
  kComparisonDirection,
  kComparisonType,
  kApiVersion,
  kDictionary,
  kFftType,
  kFloat,
  kInteger,
  kOutputOperandAlias,
  kPrecision,
  kRngAlgorithm,
  kRngDistribution,
  kString,
  kTensor,
  kTranspose,
  kType,
  kBounds,
  kAccuracyMode,
  kAccuracy,
  kSubAxis,
  kAxisRef,
  kReplicaGroupMeshAxes,
  kMeshAxis,
  kMesh,
};

// Element types by code number; kInvalid where the code is no element.
DType element_of(uint64_t code) {
  switch (code) {
    case 0:
      return DType::kPred;
    case 2:
      return DType::kBF16;
    case 3:
      return DType::kF16;
    case 4:
      return DType::kF32;
    case 5:
      return DType::kF64;
    case 6:
      return DType::kF8E4M3FN;
    case 7:
      return DType::kF8E5M2;
    case 10:
      return DType::kS4;
    case 11:
      return DType::kS8;
    case 12:
      return DType::kS16;
    case 13:
      return DType::kS32;
    case 14:
      return DType::kS64;
    case 15:
      return DType::kU4;
    case 16:
      return DType::kU8;
    case 17:
      return DType::kU16;
    case 18:
      return DType::kU32;
    case 19:
      return DType::kU64;
    case 27:
      return DType::kF8E4M3FNUZ;
    case 28:
      return DType::kF8E5M2FNUZ;
    case 29:
      return DType::kF8E4M3B11FNUZ;
    case 31:
      return DType::kS2;
    case 32:
      return DType::kU2;
    case 35:
      return DType::kF8E4M3;
    case 36:
      return DType::kF8E3M4;
    case 37:
      return DType::kF4E2M1FN;
    case 40:
      return DType::kF8E8M0FNU;
    default:
      return DType::kInvalid;
  }
}

enum TypeCode : uint64_t {
  kComplexType = 1,
  kFunctionType = 8,
  kIndexType = 9,
  kTensorType = 20,
  kTensorWithEncoding = 21,
  kTokenType = 22,
  kTupleType = 23,
  kQuantizedType = 24,
  kQuantizedPerAxisType = 30,
  kNoneType = 33,
  kTf32Type = 34,
  kFutureType = 42,
};

void decode_accuracy(ByteReader& in, Attributes& table, Attribute& out) {
  out.kind = AttributeKind::kAccuracy;
  const double atol = read_double(in), rtol = read_double(in);
  out.reals = {atol, rtol};
  out.other = {in.signed_varint()};
  const Attribute* mode = table.read_attribute(in);
  if (mode->kind != AttributeKind::kEnum) throw user_error("an accuracy whose mode is none");
  out.number = mode->number;
}

const Attribute& of_kind(const Attribute* a, AttributeKind kind, std::string_view what) {
  if (a->kind != kind) throw user_error("{} is none", what);
  return *a;
}

// The form of Shardy's own attributes, which these repeat.
void decode_mesh_part(uint64_t code, ByteReader& in, Attributes& table, Attribute& out) {
  auto list = [&](AttributeKind kind, std::string_view what) {
    const Attribute& array = of_kind(table.read_attribute(in), AttributeKind::kArray, "a list");
    for (const Attribute* item : array.items) of_kind(item, kind, what);
    return array.items;
  };
  switch (code) {
    case kSubAxis:
      return decode_sub_axis(in, out);
    case kAxisRef:
      out.kind = AttributeKind::kAxisRef;
      out.text = of_kind(table.read_attribute(in), AttributeKind::kString, "the name of an axis").text;
      if (in.varint() != 0)
        out.items = {&of_kind(table.read_attribute(in), AttributeKind::kSubAxis, "a part of an axis")};
      return;
    case kReplicaGroupMeshAxes:
      out.kind = AttributeKind::kMeshGroups;
      out.items = {table.read_attribute(in)};
      for (const Attribute* axis : list(AttributeKind::kAxisRef, "an axis of a mesh"))
        out.items.push_back(axis);
      return;
    case kMeshAxis:
      out.kind = AttributeKind::kMeshAxis;
      out.text = of_kind(table.read_attribute(in), AttributeKind::kString, "the name of an axis").text;
      out.number = in.signed_varint();
      if (out.number < 1) throw user_error("an axis of a mesh has the size {}", out.number);
      return;
    default:
      out.kind = AttributeKind::kMesh;
      out.items = list(AttributeKind::kMeshAxis, "an axis of a mesh");
      if (const Attribute* devices = table.read_optional(in)) out.numbers = ints_of(*devices);
      return;
  }
}

}  // namespace

void decode_vhlo(ByteReader& in, Attributes& table, Attribute& out) {
  const uint64_t code = in.varint();
  switch (code) {
    case kArray:
      out.kind = AttributeKind::kArray;
      out.items = table.read_attributes(in);
      return;
    case kBool:
      out.kind = AttributeKind::kBool;
      out.number = in.varint() != 0;
      return;
    case kDictionary:
      out.kind = AttributeKind::kDictionary;
      for (size_t i = 0, n = in.count(); i < n; ++i) {
        out.items.push_back(named(table.read_attribute(in)));
        out.items.push_back(table.read_attribute(in));
      }
      return;
    case kFloat:
      out.kind = AttributeKind::kFloat;
      out.type = table.read_type(in);
      out.number = read_float_bits(in, *out.type);
      return;
    case kInteger:
      out.kind = AttributeKind::kInteger;
      out.type = table.read_type(in);
      out.number = read_integer(in, *out.type);
      return;
    case kOutputOperandAlias:
      out.kind = AttributeKind::kAlias;
      out.numbers = read_signed_list(in);
      out.number = in.signed_varint();
      out.other = read_signed_list(in);
      return;
    case kString:
      out.kind = AttributeKind::kString;
      out.text = table.read_bytes(in);
      return;
    case kTensor:
      out.kind = AttributeKind::kTensor;
      out.type = table.read_type(in);
      out.data = in.bytes(in.varint());
      return;
    case kType:
      out.kind = AttributeKind::kType;
      out.type = table.read_type(in);
      return;
    case kBounds:
      out.kind = AttributeKind::kBounds;
      out.numbers = read_signed_list(in);
      return;
    case kAccuracy:
      return decode_accuracy(in, table, out);
    case kSubAxis:
    case kAxisRef:
    case kReplicaGroupMeshAxes:
    case kMeshAxis:
    case kMesh:
      return decode_mesh_part(code, in, table, out);
    case kComparisonDirection:
    case kComparisonType:
    case kApiVersion:
    case kFftType:
    case kPrecision:
    case kRngAlgorithm:
    case kRngDistribution:
    case kTranspose:
    case kAccuracyMode:
      out.kind = AttributeKind::kEnum;
      out.number = static_cast<int64_t>(in.varint());
      return;
    default:
      out.kind = AttributeKind::kUnsupported;
      return;  // an error where it is used
  }
}

void decode_vhlo(ByteReader& in, Attributes& table, Type& out) {
  const uint64_t code = in.varint();
  if (const DType element = element_of(code); element != DType::kInvalid) return become_element(out, element);
  switch (code) {
    case kComplexType:
      return become_complex(out, table.read_type(in));
    case kFunctionType:
      return decode_function_type(in, table, out);
    case kIndexType:
      out.kind = TypeKind::kIndex;
      return;
    case kTensorType:
      return decode_tensor_type(in, table, out, nullptr);
    case kTensorWithEncoding: {
      const Attribute* encoding = table.read_attribute(in);
      return decode_tensor_type(in, table, out, encoding);
    }
    case kTokenType:
      out.kind = TypeKind::kToken;
      out.shape = Shape::token();
      return;
    case kTupleType:
      return become_tuple(table, out, table.read_types(in));
    case kQuantizedType:
    case kQuantizedPerAxisType:
      return decode_quantized(in, table, code == kQuantizedPerAxisType, out);
    case kNoneType:
      out.kind = TypeKind::kNone;
      return;
    case kTf32Type:
      out.kind = TypeKind::kTf32;
      return;
    case kFutureType:
      out.kind = TypeKind::kFuture;
      out.items = table.read_types(in);
      return;
    default:
      throw unsupported_error("the StableHLO type with code {}", code);
  }
}

}  // namespace armillary::vhlo
