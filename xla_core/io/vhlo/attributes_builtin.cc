// The builtin dialect: places in the program, and a few plain attributes beside the artifact's own.
#include "xla_core/io/vhlo/attributes.h"

namespace armillary::vhlo {
namespace {

// Code numbers in the order of MLIR's BuiltinDialectBytecode.td.
enum AttributeCode : uint64_t {
  kArray,
  kDictionary,
  kString,
  kStringWithType,
  kFlatSymbol,
  kSymbol,
  kType,
  kUnit,
  kInteger,
  kFloat,
  kCallSite,
  kFileLineColumn,
  kFused,
  kFusedWithMetadata,
  kName,
  kUnknown,
  kResource,
  kDenseArray,
  kDenseNumbers,
  kDenseStrings,
  kSparse,
  kDistinct,
  kFileRange,
};
enum TypeCode : uint64_t {
  kIntegerType,
  kIndexType,
  kFunctionType,
  kBf16,
  kF16,
  kF32,
  kF64,
  kF80,
  kF128,
  kComplexType,
  kMemRef,
  kMemRefWithSpace,
  kNoneType,
  kTensorType,
  kTensorWithEncoding,
  kTupleType,
};

// Types with the codes from 22 on. f6 has no place in HLO.
constexpr uint64_t kFirstNarrow = 22;
constexpr DType kNarrowFloats[] = {DType::kF8E5M2,     DType::kF8E4M3,     DType::kF8E4M3FN,
                                   DType::kF8E5M2FNUZ, DType::kF8E4M3FNUZ, DType::kF8E4M3B11FNUZ,
                                   DType::kF8E3M4,     DType::kF4E2M1FN,   DType::kInvalid,
                                   DType::kInvalid,    DType::kF8E8M0FNU};

std::string_view text_of(const Attribute* a) {
  if (a->kind != AttributeKind::kString)
    throw user_error("a place or symbol is named by something that is no string");
  return a->text;
}

const Attribute* place(const Attribute* a) {
  if (a->kind < AttributeKind::kCallSite || a->kind > AttributeKind::kUnknownPlace)
    throw user_error("a place in the program holds something that is none");
  return a;
}

std::vector<const Attribute*> places(std::vector<const Attribute*> list) {
  for (const Attribute* a : list) place(a);
  return list;
}

Dims unsigned_list(ByteReader& in, size_t n) {
  Dims list(in.fitting(n));
  for (int64_t& i : list) i = static_cast<int64_t>(in.varint());
  return list;
}

void decode_place(uint64_t code, ByteReader& in, Attributes& table, Attribute& out) {
  switch (code) {
    case kCallSite:
      out.kind = AttributeKind::kCallSite;
      out.items.push_back(place(table.read_attribute(in)));
      out.items.push_back(place(table.read_attribute(in)));
      return;
    case kFileLineColumn:
    case kFileRange:
      out.kind = AttributeKind::kFileRange;
      out.text = text_of(table.read_attribute(in));
      out.numbers = unsigned_list(in, code == kFileRange ? in.count() : 2);
      return;
    case kFused:
    case kFusedWithMetadata:
      out.kind = AttributeKind::kFused;
      out.items = places(table.read_attributes(in));
      return;
    case kName:
      out.kind = AttributeKind::kName;
      out.text = text_of(table.read_attribute(in));
      out.items.push_back(place(table.read_attribute(in)));
      return;
    default:
      out.kind = AttributeKind::kUnknownPlace;
      return;
  }
}

void decode_dictionary(ByteReader& in, Attributes& table, Attribute& out) {
  out.kind = AttributeKind::kDictionary;
  for (size_t i = 0, n = in.count(); i < n; ++i) {
    out.items.push_back(named(table.read_attribute(in)));
    out.items.push_back(table.read_attribute(in));
  }
}

void decode_integer_type(ByteReader& in, Type& out) {
  const uint64_t code = in.varint(), width = code >> 2, signedness = code & 3;
  const bool is_unsigned = signedness == 2;
  switch (width) {
    case 1:
      return become_element(out, DType::kPred);
    case 2:
      return become_element(out, is_unsigned ? DType::kU2 : DType::kS2);
    case 4:
      return become_element(out, is_unsigned ? DType::kU4 : DType::kS4);
    case 8:
      return become_element(out, is_unsigned ? DType::kU8 : DType::kS8);
    case 16:
      return become_element(out, is_unsigned ? DType::kU16 : DType::kS16);
    case 32:
      return become_element(out, is_unsigned ? DType::kU32 : DType::kS32);
    case 64:
      return become_element(out, is_unsigned ? DType::kU64 : DType::kS64);
    default:
      throw unsupported_error("integers of {} bits", width);
  }
}

}  // namespace

void decode_builtin(ByteReader& in, Attributes& table, Attribute& out) {
  const uint64_t code = in.varint();
  switch (code) {
    case kArray:
      out.kind = AttributeKind::kArray;
      out.items = table.read_attributes(in);
      return;
    case kDictionary:
      return decode_dictionary(in, table, out);
    case kString:
    case kStringWithType:
      out.kind = AttributeKind::kString;
      out.text = table.read_string(in);
      return;
    case kFlatSymbol:
      out.kind = AttributeKind::kSymbol;
      out.text = text_of(table.read_attribute(in));
      return;
    case kType:
      out.kind = AttributeKind::kType;
      out.type = table.read_type(in);
      return;
    case kUnit:
      out.kind = AttributeKind::kUnit;
      return;
    case kInteger:
      out.type = table.read_type(in);
      out.number = read_integer(in, *out.type);
      out.kind = out.type->kind == TypeKind::kElement && is_pred(out.type->shape.dtype)
                     ? AttributeKind::kBool
                     : AttributeKind::kInteger;
      return;
    case kFloat:
      out.kind = AttributeKind::kFloat;
      out.type = table.read_type(in);
      out.number = read_float_bits(in, *out.type);
      return;
    case kDenseArray:
      out.kind = AttributeKind::kDenseArray;
      out.type = table.read_type(in);
      out.number = static_cast<int64_t>(in.varint());
      out.data = in.bytes(in.varint());
      return;
    case kDenseNumbers:
      out.kind = AttributeKind::kTensor;
      out.type = table.read_type(in);
      out.data = in.bytes(in.varint());
      return;
    case kCallSite:
    case kFileLineColumn:
    case kFused:
    case kFusedWithMetadata:
    case kName:
    case kUnknown:
    case kFileRange:
      return decode_place(code, in, table, out);
    default:
      out.kind = AttributeKind::kUnsupported;
      return;  // an error where it is used
  }
}

void decode_builtin(ByteReader& in, Attributes& table, Type& out) {
  const uint64_t code = in.varint();
  switch (code) {
    case kIntegerType:
      return decode_integer_type(in, out);
    case kIndexType:
      out.kind = TypeKind::kIndex;
      return;
    case kFunctionType:
      return decode_function_type(in, table, out);
    case kBf16:
      return become_element(out, DType::kBF16);
    case kF16:
      return become_element(out, DType::kF16);
    case kF32:
      return become_element(out, DType::kF32);
    case kF64:
      return become_element(out, DType::kF64);
    case kComplexType:
      return become_complex(out, table.read_type(in));
    case kNoneType:
      out.kind = TypeKind::kNone;
      return;
    case kTensorType:
      return decode_tensor_type(in, table, out, nullptr);
    case kTensorWithEncoding: {
      const Attribute* encoding = table.read_attribute(in);
      return decode_tensor_type(in, table, out, encoding);
    }
    case kTupleType:
      return become_tuple(table, out, table.read_types(in));
    default:
      if (code >= kFirstNarrow && code - kFirstNarrow < std::size(kNarrowFloats) &&
          kNarrowFloats[code - kFirstNarrow] != DType::kInvalid)
        return become_element(out, kNarrowFloats[code - kFirstNarrow]);
      throw unsupported_error("the builtin type with code {}", code);
  }
}

}  // namespace armillary::vhlo
