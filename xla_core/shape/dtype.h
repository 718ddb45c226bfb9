// Element types: one row each, with everything the rest of the core asks about them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace armillary {

enum class DType : uint8_t {
  kInvalid,
  kPred,
  kS1,
  kS2,
  kS4,
  kS8,
  kS16,
  kS32,
  kS64,
  kU1,
  kU2,
  kU4,
  kU8,
  kU16,
  kU32,
  kU64,
  kF4E2M1FN,
  kF8E5M2,
  kF8E4M3,
  kF8E4M3FN,
  kF8E4M3B11FNUZ,
  kF8E5M2FNUZ,
  kF8E4M3FNUZ,
  kF8E3M4,
  kF8E8M0FNU,
  kF16,
  kBF16,
  kF32,
  kF64,
  kC64,
  kC128,
  kTuple,
  kToken,
  kOpaque,
};
inline constexpr int kNumDTypes = static_cast<int>(DType::kOpaque) + 1;

enum class DTypeClass : uint8_t { kNone, kPred, kSigned, kUnsigned, kFloat, kComplex };

// How a small float spends its special values.
enum class FloatStyle : uint8_t {
  kIeee,  // infinities and NaNs in the top exponent
  kFn,    // no infinity; NaN is all ones (f4e2m1fn has no NaN either)
  kFnuz,  // no infinity, no negative zero; NaN is the sign bit alone
  kE8M0,  // unsigned power of two; NaN is 0xff
};

struct DTypeInfo {
  DType dtype;
  std::string_view name;  // as HLO text writes it
  DTypeClass cls;
  int bits;               // logical width
  int bytes;              // bytes an element takes in our memory: sub-byte types and pred take one
  int proto;              // xla.PrimitiveType number
  int exponent_bits = 0;  // floats, and the parts of complex types
  int mantissa_bits = 0;  // stored ones, without the hidden bit
  int exponent_bias = 0;
  FloatStyle style = FloatStyle::kIeee;
  bool has_nan = true;
};

const DTypeInfo& info(DType dtype);
inline std::string_view to_string(DType dtype) { return info(dtype).name; }
std::optional<DType> dtype_from_name(std::string_view name);
std::optional<DType> dtype_from_proto(int number);

inline DTypeClass class_of(DType d) { return info(d).cls; }
inline bool is_pred(DType d) { return d == DType::kPred; }
inline bool is_signed(DType d) { return class_of(d) == DTypeClass::kSigned; }
inline bool is_unsigned(DType d) { return class_of(d) == DTypeClass::kUnsigned; }
inline bool is_integer(DType d) { return is_signed(d) || is_unsigned(d); }
inline bool is_integral(DType d) { return is_integer(d) || is_pred(d); }
inline bool is_float(DType d) { return class_of(d) == DTypeClass::kFloat; }
inline bool is_complex(DType d) { return class_of(d) == DTypeClass::kComplex; }
inline bool is_array_dtype(DType d) { return class_of(d) != DTypeClass::kNone; }
inline int byte_size(DType d) { return info(d).bytes; }
inline int bit_width(DType d) { return info(d).bits; }

// c64 -> f32, c128 -> f64, others unchanged; and back.
DType real_part_of(DType d);
DType complex_of(DType d);

}  // namespace armillary
