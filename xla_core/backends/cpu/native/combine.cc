#include "xla_core/backends/cpu/native/combine.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>

#include "xla_core/backends/cpu/native/small_float.h"

namespace armillary::native {
namespace {

struct Bf16 {
  uint16_t bits;
  Bf16() = default;
  Bf16(float v) : bits(float_to_bf16(v)) {}
  operator float() const { return bf16_to_float(bits); }
};
struct F16 {
  uint16_t bits;
  F16() = default;
  F16(float v) : bits(float_to_f16(v)) {}
  operator float() const { return f16_to_float(bits); }
};

template <class T>
constexpr bool is_real_float =
    std::is_floating_point_v<T> || std::is_same_v<T, Bf16> || std::is_same_v<T, F16>;

// The type in which T computes: a single operation in f32, rounded once, is the right result for bf16 and
// f16.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, Bf16> || std::is_same_v<T, F16>, float, T>;

struct Add {
  template <class T>
  static T apply(T a, T b) {
    return a + b;
  }
};
struct Multiply {
  template <class T>
  static T apply(T a, T b) {
    return a * b;
  }
};
// NaN wins; -0 is less than +0.
struct Minimum {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return a;
      if (a == b) return std::signbit(a) ? a : b;
    }
    return a < b ? a : b;
  }
};
struct Maximum {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return a;
      if (a == b) return std::signbit(a) ? b : a;
    }
    return a < b || b != b ? b : a;
  }
};
struct And {
  template <class T>
  static T apply(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <class T>
  static T apply(T a, T b) {
    return a | b;
  }
};

template <class T, class F>
void run(std::byte* result, const std::byte* update, int64_t n) {
  T* r = reinterpret_cast<T*>(result);
  const T* u = reinterpret_cast<const T*>(update);
  for (int64_t i = 0; i < n; ++i)
    r[i] = static_cast<T>(F::apply(static_cast<Wide<T>>(r[i]), static_cast<Wide<T>>(u[i])));
}

template <class T, class F>
void each(std::byte* result, const std::byte* update, const int64_t* to, const int64_t* from, int64_t n,
          int64_t low, int64_t high) {
  T* r = reinterpret_cast<T*>(result);
  const T* u = reinterpret_cast<const T*>(update);
  for (int64_t i = 0; i < n; ++i) {
    if (to[i] < low || to[i] >= high) continue;
    T& place = r[to[i]];
    place = static_cast<T>(F::apply(static_cast<Wide<T>>(place), static_cast<Wide<T>>(u[from[i]])));
  }
}

template <class T, class F>
constexpr Combine kPair = {run<T, F>, each<T, F>};

template <size_t Bytes>
void assign_each(std::byte* result, const std::byte* update, const int64_t* to, const int64_t* from,
                 int64_t n, int64_t low, int64_t high) {
  for (int64_t i = 0; i < n; ++i)
    if (to[i] >= low && to[i] < high) std::memcpy(result + to[i] * Bytes, update + from[i] * Bytes, Bytes);
}

template <size_t Bytes>
void assign(std::byte* result, const std::byte* update, int64_t n) {
  std::memcpy(result, update, n * Bytes);
}

template <class T>
Combine pair_of(Combiner c) {
  constexpr bool kComplex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
  if (c == Combiner::kAdd) return kPair<T, Add>;
  if (c == Combiner::kMultiply && !kComplex) return kPair<T, Multiply>;
  if constexpr (!kComplex) {
    if (c == Combiner::kMinimum) return kPair<T, Minimum>;
    if (c == Combiner::kMaximum) return kPair<T, Maximum>;
  }
  if constexpr (std::is_integral_v<T>) {
    if (c == Combiner::kAnd) return kPair<T, And>;
    if (c == Combiner::kOr) return kPair<T, Or>;
  }
  return {};
}

// Sums and products of signed integers wrap: they are computed unsigned.
template <class Signed>
Combine signed_pair_of(Combiner c) {
  if (c == Combiner::kAdd || c == Combiner::kMultiply) return pair_of<std::make_unsigned_t<Signed>>(c);
  return pair_of<Signed>(c);
}

Combine assign_of(DType d) {
  switch (byte_size(d)) {
    case 1:
      return {assign<1>, assign_each<1>};
    case 2:
      return {assign<2>, assign_each<2>};
    case 4:
      return {assign<4>, assign_each<4>};
    case 8:
      return {assign<8>, assign_each<8>};
    default:
      return {assign<16>, assign_each<16>};
  }
}

}  // namespace

Combine combine_of(Combiner c, DType d) {
  if (c == Combiner::kAssign) return assign_of(d);
  switch (d) {
    case DType::kF32:
      return pair_of<float>(c);
    case DType::kF64:
      return pair_of<double>(c);
    case DType::kBF16:
      return pair_of<Bf16>(c);
    case DType::kF16:
      return pair_of<F16>(c);
    case DType::kC64:
      return pair_of<std::complex<float>>(c);
    case DType::kC128:
      return pair_of<std::complex<double>>(c);
    case DType::kS8:
      return signed_pair_of<int8_t>(c);
    case DType::kS16:
      return signed_pair_of<int16_t>(c);
    case DType::kS32:
      return signed_pair_of<int32_t>(c);
    case DType::kS64:
      return signed_pair_of<int64_t>(c);
    case DType::kU8:
      return pair_of<uint8_t>(c);
    case DType::kU16:
      return pair_of<uint16_t>(c);
    case DType::kU32:
      return pair_of<uint32_t>(c);
    case DType::kU64:
      return pair_of<uint64_t>(c);
    case DType::kPred:  // bytes 0 and 1
      if (c == Combiner::kOr || c == Combiner::kMaximum || c == Combiner::kAdd) return kPair<uint8_t, Or>;
      return c == Combiner::kFunction ? Combine{} : kPair<uint8_t, And>;
    default:
      return {};
  }
}

bool scatter_knows(Combiner combine, DType dtype) { return combine_of(combine, dtype).run != nullptr; }

}  // namespace armillary::native
