#include "xla_core/shape/dtype.h"

#include <array>

namespace armillary {
namespace {

using C = DTypeClass;
using S = FloatStyle;
// Proto numbers and float formats: xla_data.proto and the OCP 8-bit floating point specification, as in
// ml_dtypes.
constexpr std::array<DTypeInfo, kNumDTypes> kTable = {{
    {DType::kInvalid, "invalid", C::kNone, 0, 0, 0},
    {DType::kPred, "pred", C::kPred, 1, 1, 1},
    {DType::kS1, "s1", C::kSigned, 1, 1, 30},
    {DType::kS2, "s2", C::kSigned, 2, 1, 26},
    {DType::kS4, "s4", C::kSigned, 4, 1, 21},
    {DType::kS8, "s8", C::kSigned, 8, 1, 2},
    {DType::kS16, "s16", C::kSigned, 16, 2, 3},
    {DType::kS32, "s32", C::kSigned, 32, 4, 4},
    {DType::kS64, "s64", C::kSigned, 64, 8, 5},
    {DType::kU1, "u1", C::kUnsigned, 1, 1, 31},
    {DType::kU2, "u2", C::kUnsigned, 2, 1, 27},
    {DType::kU4, "u4", C::kUnsigned, 4, 1, 22},
    {DType::kU8, "u8", C::kUnsigned, 8, 1, 6},
    {DType::kU16, "u16", C::kUnsigned, 16, 2, 7},
    {DType::kU32, "u32", C::kUnsigned, 32, 4, 8},
    {DType::kU64, "u64", C::kUnsigned, 64, 8, 9},
    {DType::kF4E2M1FN, "f4e2m1fn", C::kFloat, 4, 1, 32, 2, 1, 1, S::kFn, false},
    {DType::kF8E5M2, "f8e5m2", C::kFloat, 8, 1, 19, 5, 2, 15},
    {DType::kF8E4M3, "f8e4m3", C::kFloat, 8, 1, 28, 4, 3, 7},
    {DType::kF8E4M3FN, "f8e4m3fn", C::kFloat, 8, 1, 20, 4, 3, 7, S::kFn},
    {DType::kF8E4M3B11FNUZ, "f8e4m3b11fnuz", C::kFloat, 8, 1, 23, 4, 3, 11, S::kFnuz},
    {DType::kF8E5M2FNUZ, "f8e5m2fnuz", C::kFloat, 8, 1, 24, 5, 2, 16, S::kFnuz},
    {DType::kF8E4M3FNUZ, "f8e4m3fnuz", C::kFloat, 8, 1, 25, 4, 3, 8, S::kFnuz},
    {DType::kF8E3M4, "f8e3m4", C::kFloat, 8, 1, 29, 3, 4, 3},
    {DType::kF8E8M0FNU, "f8e8m0fnu", C::kFloat, 8, 1, 33, 8, 0, 127, S::kE8M0},
    {DType::kF16, "f16", C::kFloat, 16, 2, 10, 5, 10, 15},
    {DType::kBF16, "bf16", C::kFloat, 16, 2, 16, 8, 7, 127},
    {DType::kF32, "f32", C::kFloat, 32, 4, 11, 8, 23, 127},
    {DType::kF64, "f64", C::kFloat, 64, 8, 12, 11, 52, 1023},
    {DType::kC64, "c64", C::kComplex, 64, 8, 15, 8, 23, 127},
    {DType::kC128, "c128", C::kComplex, 128, 16, 18, 11, 52, 1023},
    {DType::kTuple, "tuple", C::kNone, 0, 0, 13},
    {DType::kToken, "token", C::kNone, 0, 0, 17},
    {DType::kOpaque, "opaque", C::kNone, 0, 0, 14},
}};

constexpr bool in_enum_order() {
  for (int i = 0; i < kNumDTypes; ++i)
    if (static_cast<int>(kTable[i].dtype) != i) return false;
  return true;
}
static_assert(in_enum_order());

}  // namespace

const DTypeInfo& info(DType dtype) { return kTable[static_cast<int>(dtype)]; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DTypeInfo& row : kTable)
    if (row.name == name && row.dtype != DType::kInvalid && row.dtype != DType::kTuple) return row.dtype;
  return std::nullopt;
}

std::optional<DType> dtype_from_proto(int number) {
  for (const DTypeInfo& row : kTable)
    if (row.proto == number && row.dtype != DType::kInvalid) return row.dtype;
  return std::nullopt;
}

DType real_part_of(DType d) { return d == DType::kC64 ? DType::kF32 : d == DType::kC128 ? DType::kF64 : d; }
DType complex_of(DType d) {
  return d == DType::kF64 ? DType::kC128 : d == DType::kF32 ? DType::kC64 : DType::kInvalid;
}

}  // namespace armillary
