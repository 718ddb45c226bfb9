#include "xla_core/backends/cpu/native/convert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <type_traits>

#include "xla_core/backends/cpu/native/small_float.h"
#include "xla_core/base/error.h"
#include "xla_core/base/parallel_for.h"
#include "xla_core/shape/literal.h"

namespace armillary::native {
namespace {

template <class T>
constexpr bool is_complex_value = !std::is_arithmetic_v<T>;

int64_t sign_extend(uint8_t byte, int bits) { return static_cast<int8_t>(byte << (8 - bits)) >> (8 - bits); }

// One-byte integers below eight bits may carry garbage above their width: only the low bits count.
int64_t byte_integer(DType dtype, uint8_t byte) {
  if (dtype == DType::kPred) return byte != 0;
  const int bits = bit_width(dtype);
  return is_signed(dtype) ? sign_extend(byte, bits) : byte & ((1 << bits) - 1);
}

template <class To, class From>
To cast_value(From v) {
  if constexpr (is_complex_value<From>) {
    return To(v);
  } else if constexpr (is_complex_value<To>) {
    return To(static_cast<typename To::value_type>(v));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    using S = std::make_signed_t<To>;  // saturating, NaN gives 0
    if (std::isnan(v)) return 0;
    if (v <= static_cast<From>(std::numeric_limits<S>::min()))
      return static_cast<To>(std::numeric_limits<S>::min());
    if (v >= -static_cast<From>(std::numeric_limits<S>::min()))
      return static_cast<To>(std::numeric_limits<S>::max());
    return static_cast<To>(static_cast<S>(v));
  } else {
    return static_cast<To>(v);
  }
}

template <class To, class From>
void widen_as(const std::byte* source, int64_t n, To* out) {
  const From* in = reinterpret_cast<const From*>(source);
  for (int64_t i = 0; i < n; ++i) out[i] = cast_value<To>(in[i]);
}

template <class To, class Decode>
void widen_half(const std::byte* source, int64_t n, To* out, Decode decode) {
  const uint16_t* in = reinterpret_cast<const uint16_t*>(source);
  for (int64_t i = 0; i < n; ++i) out[i] = cast_value<To>(decode(in[i]));
}

template <class To>
void widen_byte(DType from, const std::byte* source, int64_t n, To* out) {
  const uint8_t* in = reinterpret_cast<const uint8_t*>(source);
  if (is_float(from)) {
    const float* table = byte_table_f32(from);
    for (int64_t i = 0; i < n; ++i) out[i] = cast_value<To>(table[in[i]]);
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = cast_value<To>(byte_integer(from, in[i]));
  }
}

// Writers: one value of type From as the integer type To.
template <class To, class From>
To saturate(From v) {
  if constexpr (std::is_integral_v<From>) {
    return static_cast<To>(v);
  } else {
    if (std::isnan(v)) return 0;
    const From low = static_cast<From>(std::numeric_limits<To>::min());
    const From above = std::ldexp(From(1), std::numeric_limits<To>::digits);
    if (v <= low) return std::numeric_limits<To>::min();
    if (v >= above) return std::numeric_limits<To>::max();
    return static_cast<To>(v);
  }
}

template <class To, class From>
void narrow_integer(const From* source, int64_t n, std::byte* out) {
  To* to = reinterpret_cast<To*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = saturate<To>(source[i]);
}

template <class From>
void narrow_small_integer(const From* source, int64_t n, DType to, std::byte* out) {
  const int bits = bit_width(to);
  for (int64_t i = 0; i < n; ++i) {
    int64_t v =
        is_signed(to) ? saturate<int64_t>(source[i]) : static_cast<int64_t>(saturate<uint64_t>(source[i]));
    if constexpr (std::is_floating_point_v<From>) {
      const int64_t low = is_signed(to) ? -(int64_t{1} << (bits - 1)) : 0;
      v = std::clamp(v, low, low + (int64_t{1} << bits) - 1);
    }
    out[i] = static_cast<std::byte>(is_signed(to) ? sign_extend(static_cast<uint8_t>(v), bits)
                                                  : v & ((1 << bits) - 1));
  }
}

template <class From>
void narrow_float(const From* source, int64_t n, DType to, std::byte* out) {
  if (byte_size(to) == 1) {
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<std::byte>(encode_float(to, static_cast<double>(source[i])));
    return;
  }
  uint16_t* half = reinterpret_cast<uint16_t*>(out);
  if constexpr (std::is_same_v<From, float>) {
    for (int64_t i = 0; i < n; ++i)
      half[i] = to == DType::kBF16 ? float_to_bf16(source[i]) : float_to_f16(source[i]);
  } else {
    for (int64_t i = 0; i < n; ++i)
      half[i] = static_cast<uint16_t>(encode_float(to, static_cast<double>(source[i])));
  }
}

template <class To, class From>
void narrow_as(const From* source, int64_t n, std::byte* out) {
  To* to = reinterpret_cast<To*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<To>(source[i]);
}

template <class From>
void narrow_real(const From* source, int64_t n, DType to, std::byte* out) {
  switch (to) {
    case DType::kF32:
      return narrow_as<float>(source, n, out);
    case DType::kF64:
      return narrow_as<double>(source, n, out);
    case DType::kC64:
      return narrow_as<std::complex<float>>(source, n, out);
    case DType::kC128:
      return narrow_as<std::complex<double>>(source, n, out);
    case DType::kS8:
      return narrow_integer<int8_t>(source, n, out);
    case DType::kU8:
      return narrow_integer<uint8_t>(source, n, out);
    case DType::kS16:
      return narrow_integer<int16_t>(source, n, out);
    case DType::kU16:
      return narrow_integer<uint16_t>(source, n, out);
    case DType::kS32:
      return narrow_integer<int32_t>(source, n, out);
    case DType::kU32:
      return narrow_integer<uint32_t>(source, n, out);
    case DType::kS64:
      return narrow_integer<int64_t>(source, n, out);
    case DType::kU64:
      return narrow_integer<uint64_t>(source, n, out);
    case DType::kPred:
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<std::byte>(source[i] != From(0));
      return;
    default:
      if (is_float(to)) return narrow_float(source, n, to, out);
      return narrow_small_integer(source, n, to, out);
  }
}

template <class T>
std::array<T, 256> make_table(DType dtype) {
  std::array<T, 256> table;
  for (int b = 0; b < 256; ++b)
    table[b] = is_float(dtype) ? static_cast<T>(decode_float(dtype, b))
                               : static_cast<T>(byte_integer(dtype, static_cast<uint8_t>(b)));
  return table;
}

// Tables are made once and live as long as the process.
template <class T>
const T* table_of(DType dtype) {
  static std::mutex mutex;
  static auto* const tables = new std::map<DType, std::array<T, 256>>;
  std::lock_guard<std::mutex> lock(mutex);
  auto [it, fresh] = tables->try_emplace(dtype);
  if (fresh) it->second = make_table<T>(dtype);
  return it->second.data();
}

template <class To>
void convert_parallel(const ArrayRef& array, std::byte* out) {
  const int64_t width = byte_size(array.dtype);
  parallel_for(array.size(), 1 << 15, [&](int64_t begin, int64_t end) {
    widen(array.dtype, array.data + begin * width, end - begin, reinterpret_cast<To*>(out) + begin);
  });
}

}  // namespace

const float* byte_table_f32(DType dtype) { return table_of<float>(dtype); }
const uint32_t* byte_table_u32(DType dtype) { return table_of<uint32_t>(dtype); }

template <class To>
void widen(DType from, const std::byte* source, int64_t n, To* out) {
  switch (from) {
    case DType::kF32:
      return widen_as<To, float>(source, n, out);
    case DType::kF64:
      return widen_as<To, double>(source, n, out);
    case DType::kBF16:
      return widen_half(source, n, out, bf16_to_float);
    case DType::kF16:
      return widen_half(source, n, out, f16_to_float);
    case DType::kS16:
      return widen_as<To, int16_t>(source, n, out);
    case DType::kU16:
      return widen_as<To, uint16_t>(source, n, out);
    case DType::kS32:
      return widen_as<To, int32_t>(source, n, out);
    case DType::kU32:
      return widen_as<To, uint32_t>(source, n, out);
    case DType::kS64:
      return widen_as<To, int64_t>(source, n, out);
    case DType::kU64:
      return widen_as<To, uint64_t>(source, n, out);
    case DType::kC64:
      if constexpr (is_complex_value<To>) return widen_as<To, std::complex<float>>(source, n, out);
      break;
    case DType::kC128:
      if constexpr (is_complex_value<To>) return widen_as<To, std::complex<double>>(source, n, out);
      break;
    default:
      if (byte_size(from) == 1) return widen_byte(from, source, n, out);
  }
  throw internal_error("cannot widen {}", to_string(from));
}
template void widen(DType, const std::byte*, int64_t, float*);
template void widen(DType, const std::byte*, int64_t, double*);
template void widen(DType, const std::byte*, int64_t, uint32_t*);
template void widen(DType, const std::byte*, int64_t, uint64_t*);
template void widen(DType, const std::byte*, int64_t, std::complex<float>*);
template void widen(DType, const std::byte*, int64_t, std::complex<double>*);

template <class From>
void narrow(const From* source, int64_t n, DType to, std::byte* out) {
  if constexpr (is_complex_value<From>) {
    if (to == DType::kC64) return narrow_as<std::complex<float>>(source, n, out);
    if (to == DType::kC128) return narrow_as<std::complex<double>>(source, n, out);
    throw internal_error("cannot narrow a complex value to {}", to_string(to));
  } else {
    narrow_real(source, n, to, out);
  }
}
template void narrow(const float*, int64_t, DType, std::byte*);
template void narrow(const double*, int64_t, DType, std::byte*);
template void narrow(const uint32_t*, int64_t, DType, std::byte*);
template void narrow(const uint64_t*, int64_t, DType, std::byte*);
template void narrow(const std::complex<float>*, int64_t, DType, std::byte*);
template void narrow(const std::complex<double>*, int64_t, DType, std::byte*);

ArrayRef converted(const ArrayRef& array, DType to, std::unique_ptr<std::byte[]>& storage) {
  if (array.dtype == to) return array;
  storage = std::make_unique_for_overwrite<std::byte[]>(std::max<int64_t>(1, array.size() * byte_size(to)));
  switch (to) {
    case DType::kF32:
      convert_parallel<float>(array, storage.get());
      break;
    case DType::kF64:
      convert_parallel<double>(array, storage.get());
      break;
    case DType::kU32:
      convert_parallel<uint32_t>(array, storage.get());
      break;
    case DType::kU64:
      convert_parallel<uint64_t>(array, storage.get());
      break;
    case DType::kC64:
      convert_parallel<std::complex<float>>(array, storage.get());
      break;
    case DType::kC128:
      convert_parallel<std::complex<double>>(array, storage.get());
      break;
    default:
      throw internal_error("{} is no accumulator", to_string(to));
  }
  return {to, array.dims, storage.get()};
}

}  // namespace armillary::native
