#include "xla_core/interp/columns.h"

#include <bit>
#include <cmath>

#include "xla_core/base/error.h"

namespace armillary {
namespace {

// The hardware's float <-> double conversions quiet signalling NaNs; data movement must not change a bit.
double widen(float value) {
  if (value == value) return value;
  const uint64_t bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<double>((bits >> 31) << 63 | uint64_t{0x7ff} << 52 | (bits & 0x7fffff) << 29);
}

float narrow(double value) {
  if (value == value) return static_cast<float>(value);
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  uint32_t payload = static_cast<uint32_t>(bits >> 29) & 0x7fffff;
  if (payload == 0) payload = 0x400000;
  return std::bit_cast<float>(static_cast<uint32_t>(bits >> 63) << 31 | 0x7f800000 | payload);
}

template <class At>
void read(const ArrayView& from, int part, At at, int64_t count, Lane* out) {
  const std::byte* data = from.data;
  auto ints = [&](auto zero) {
    const auto* p = reinterpret_cast<const decltype(zero)*>(data);
    for (int64_t k = 0; k < count; ++k) out[k].i = static_cast<int64_t>(p[at(k)]);
  };
  auto coded = [&](auto zero) {
    const auto* p = reinterpret_cast<const decltype(zero)*>(data);
    for (int64_t k = 0; k < count; ++k) out[k].f = decode_float(from.dtype, p[at(k)]);
  };
  const auto* f32 = reinterpret_cast<const float*>(data);
  const auto* f64 = reinterpret_cast<const double*>(data);
  switch (from.dtype) {
    case DType::kF32:
      for (int64_t k = 0; k < count; ++k) out[k].f = widen(f32[at(k)]);
      return;
    case DType::kF64:
      for (int64_t k = 0; k < count; ++k) out[k].f = f64[at(k)];
      return;
    case DType::kC64:
      for (int64_t k = 0; k < count; ++k) out[k].f = widen(f32[2 * at(k) + part]);
      return;
    case DType::kC128:
      for (int64_t k = 0; k < count; ++k) out[k].f = f64[2 * at(k) + part];
      return;
    case DType::kF16:
    case DType::kBF16:
      return coded(uint16_t{});
    case DType::kS1:
    case DType::kS2:
    case DType::kS4:
    case DType::kS8:
      return ints(int8_t{});
    case DType::kS16:
      return ints(int16_t{});
    case DType::kS32:
      return ints(int32_t{});
    case DType::kS64:
    case DType::kU64:
      return ints(int64_t{});
    case DType::kU16:
      return ints(uint16_t{});
    case DType::kU32:
      return ints(uint32_t{});
    default:
      return is_float(from.dtype) ? coded(uint8_t{}) : ints(uint8_t{});
  }
}

}  // namespace

ArrayView ArrayView::of(const Literal& literal) {
  return {literal.bytes(), literal.dtype(), literal.size(), literal.size() == 1};
}

void read_lanes(const ArrayView& from, int part, int64_t begin, const Lane* index, int64_t count, Lane* out) {
  if (!index && from.splat) return read(from, part, [](int64_t) { return int64_t{0}; }, count, out);
  if (!index) return read(from, part, [begin](int64_t k) { return begin + k; }, count, out);
  for (int64_t k = 0; k < count; ++k)
    if (index[k].i < 0 || index[k].i >= from.count) {
      // An empty operand is never selected from, but a recipe may still compute a load of it.
      if (from.count != 0) throw internal_error("element {} of {} is read", index[k].i, from.count);
      for (int64_t j = 0; j < count; ++j) out[j].i = 0;
      return;
    }
  read(from, part, [index](int64_t k) { return index[k].i; }, count, out);
}

void write_lanes(DType dtype, std::byte* to, int64_t begin, int64_t count, const Lane* re, const Lane* im) {
  auto ints = [&](auto zero) {
    auto* p = reinterpret_cast<decltype(zero)*>(to) + begin;
    for (int64_t k = 0; k < count; ++k) p[k] = static_cast<decltype(zero)>(re[k].i);
  };
  auto coded = [&](auto zero) {
    auto* p = reinterpret_cast<decltype(zero)*>(to) + begin;
    for (int64_t k = 0; k < count; ++k) p[k] = static_cast<decltype(zero)>(encode_float(dtype, re[k].f));
  };
  auto* f32 = reinterpret_cast<float*>(to);
  auto* f64 = reinterpret_cast<double*>(to);
  switch (dtype) {
    case DType::kF32:
      for (int64_t k = 0; k < count; ++k) f32[begin + k] = narrow(re[k].f);
      return;
    case DType::kF64:
      for (int64_t k = 0; k < count; ++k) f64[begin + k] = re[k].f;
      return;
    case DType::kC64:
      for (int64_t k = 0; k < count; ++k)
        f32[2 * (begin + k)] = narrow(re[k].f), f32[2 * (begin + k) + 1] = narrow(im[k].f);
      return;
    case DType::kC128:
      for (int64_t k = 0; k < count; ++k) f64[2 * (begin + k)] = re[k].f, f64[2 * (begin + k) + 1] = im[k].f;
      return;
    default:
      break;
  }
  switch (byte_size(dtype)) {
    case 1:
      return is_float(dtype) ? coded(uint8_t{}) : ints(uint8_t{});
    case 2:
      return is_float(dtype) ? coded(uint16_t{}) : ints(uint16_t{});
    case 4:
      return ints(uint32_t{});
    default:
      return ints(uint64_t{});
  }
}

double round_to(DType dtype, double value) {
  if (dtype == DType::kF32) return static_cast<float>(value);
  if (dtype == DType::kF64) return value;
  return decode_float(dtype, encode_float(dtype, value));
}

int64_t wrap_to(DType dtype, int64_t value) { return Wrapper(dtype)(static_cast<uint64_t>(value)); }

uint64_t lane_bits(DType dtype, Lane lane) {
  if (dtype == DType::kF32) return std::bit_cast<uint32_t>(narrow(lane.f));
  if (is_float(dtype)) return encode_float(dtype, lane.f);
  const int bits = bit_width(dtype);
  return static_cast<uint64_t>(lane.i) & (bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1);
}

Lane lane_of_bits(DType dtype, uint64_t bits) {
  Lane lane;
  if (dtype == DType::kF32)
    lane.f = widen(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  else if (is_float(dtype))
    lane.f = decode_float(dtype, bits);
  else
    lane.i = wrap_to(dtype, static_cast<int64_t>(bits));
  return lane;
}

}  // namespace armillary
