// Quantized element types of the VHLO dialect; their laws are those of StableHLO's specification, by number.
#include <cmath>

#include "xla_core/io/vhlo/attributes.h"

namespace armillary::vhlo {
namespace {

// MLIR names storage without a sign and keeps that in a flag.
DType storage_type(const Type& type, bool with_sign) {
  const DType dtype = type.kind == TypeKind::kElement ? type.shape.dtype : DType::kInvalid;
  if (!is_integer(dtype) || bit_width(dtype) > 32)
    throw user_error("a quantized type is stored as something that is no integer of up to 32 bits");
  if (with_sign || is_unsigned(dtype)) return dtype;
  constexpr DType kUnsigned[] = {DType::kU2, DType::kU4, DType::kU8, DType::kU16, DType::kU32};
  for (DType candidate : kUnsigned)
    if (bit_width(candidate) == bit_width(dtype)) return candidate;
  throw unsupported_error("a quantized type that is stored as {} without a sign", to_string(dtype));
}

void check(const Quantization& q) {
  if (!is_float(q.expressed)) throw user_error("a quantized type stands for something that is no float");
  const int bits = bit_width(q.storage);
  const int64_t least = is_signed(q.storage) ? -(int64_t{1} << (bits - 1)) : 0;
  const int64_t most = least + (int64_t{1} << bits) - 1;
  if (q.min < least || q.min >= q.max || q.max > most)  // (C3)
    throw user_error("a quantized type stores {} to {} as {}", q.min, q.max, to_string(q.storage));
  for (double scale : q.scales)  // (C5), (C6)
    if (!(scale > 0) || !std::isfinite(scale)) throw user_error("a quantized type with the scale {}", scale);
  for (int64_t zero : q.zero_points)  // (C7)
    if (zero < q.min || zero > q.max)
      throw user_error("a quantized type that stores {} to {} has the zero point {}", q.min, q.max, zero);
  if (q.scales.empty() || q.scales.size() != q.zero_points.size())  // (C9)
    throw user_error("a quantized type with {} scales and {} zero points", q.scales.size(),
                     q.zero_points.size());
}

}  // namespace

void decode_quantized(ByteReader& in, Attributes& table, bool per_axis, Type& out) {
  Quantization q;
  const bool with_sign = in.varint() & 1;
  q.storage = storage_type(*table.read_type(in), with_sign);
  const Type& expressed = *table.read_type(in);
  if (expressed.kind == TypeKind::kElement) q.expressed = expressed.shape.dtype;
  if (per_axis) {
    q.axis = static_cast<int64_t>(in.varint());
  } else {
    q.scales = {read_double(in)};
    q.zero_points = {in.signed_varint()};
  }
  q.min = in.signed_varint();
  q.max = in.signed_varint();
  if (per_axis) {
    q.scales.resize(in.count());
    for (double& scale : q.scales) scale = read_double(in);
    q.zero_points = read_signed_list(in);
  }
  check(q);
  out.kind = TypeKind::kQuantized;
  out.shape = Shape::scalar(q.storage);
  out.quantization = std::make_shared<const Quantization>(std::move(q));
}

}  // namespace armillary::vhlo
