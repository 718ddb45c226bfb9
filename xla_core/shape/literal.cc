#include "xla_core/shape/literal.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "xla_core/base/error.h"

namespace armillary {
namespace {

constexpr size_t kAlignment = 64;  // a cache line, and what vector loads like best

// What the machine has. Linux promises more and kills the process that believes it.
int64_t physical_memory() {
  static const int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  return bytes;
}

std::shared_ptr<void> allocate_zeroed(int64_t bytes) {
  const size_t size = (static_cast<size_t>(bytes) + kAlignment) / kAlignment * kAlignment;
  void* memory = bytes < physical_memory() ? std::aligned_alloc(kAlignment, size) : nullptr;
  if (!memory) throw resource_error("out of memory for a literal of {} bytes", bytes);
  std::memset(memory, 0, size);
  return {memory, std::free};
}

// Two's complement value of the low bits.
int64_t sign_extend(int64_t value, int bits) {
  const int unused = 64 - bits;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused;
}

template <class T>
int64_t saturate(double value) {
  if (std::isnan(value)) return 0;
  // 2^digits is exact in double; the maximum itself may not be.
  const double limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (value >= limit) return static_cast<int64_t>(std::numeric_limits<T>::max());
  if (value <= static_cast<double>(std::numeric_limits<T>::min()))
    return static_cast<int64_t>(std::numeric_limits<T>::min());
  return static_cast<int64_t>(static_cast<T>(value));
}

// Saturation for the dtypes narrower than a byte, whose limits no C++ type has.
int64_t saturate_narrow(double value, int bits, bool is_signed) {
  if (std::isnan(value)) return 0;
  const double high = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1,
               low = is_signed ? -(1 << (bits - 1)) : 0;
  return static_cast<int64_t>(std::clamp(value, low, high));
}

}  // namespace

Literal::Literal(Shape shape) : shape_(std::move(shape)) {
  if (shape_.is_tuple()) {
    for (const Shape& element : shape_.tuple) tuple_.emplace_back(element);
    return;
  }
  owner_ = allocate_zeroed(shape_.byte_size());
  data_ = static_cast<std::byte*>(owner_.get());
}

Literal Literal::make_tuple(std::vector<Literal> elements) {
  Literal literal;
  literal.shape_.dtype = DType::kTuple;
  for (const Literal& element : elements) literal.shape_.tuple.push_back(element.shape());
  literal.tuple_ = std::move(elements);
  return literal;
}

Literal Literal::view(Shape shape, std::byte* data, std::shared_ptr<void> owner) {
  Literal literal;
  literal.shape_ = std::move(shape);
  literal.data_ = data;
  literal.owner_ = std::move(owner);
  return literal;
}

int64_t Literal::get_int(int64_t i) const {
  switch (shape_.dtype) {
    case DType::kPred:
    case DType::kU1:
    case DType::kU2:
    case DType::kU4:
    case DType::kU8:
      return reinterpret_cast<const uint8_t*>(data_)[i];
    case DType::kS1:
    case DType::kS2:
    case DType::kS4:
    case DType::kS8:
      return reinterpret_cast<const int8_t*>(data_)[i];
    case DType::kS16:
      return reinterpret_cast<const int16_t*>(data_)[i];
    case DType::kU16:
      return reinterpret_cast<const uint16_t*>(data_)[i];
    case DType::kS32:
      return reinterpret_cast<const int32_t*>(data_)[i];
    case DType::kU32:
      return reinterpret_cast<const uint32_t*>(data_)[i];
    case DType::kS64:
    case DType::kU64:
      return reinterpret_cast<const int64_t*>(data_)[i];
    default:
      return saturate<int64_t>(get_double(i));
  }
}

double Literal::get_double(int64_t i) const {
  switch (shape_.dtype) {
    case DType::kF64:
      return reinterpret_cast<const double*>(data_)[i];
    case DType::kF32:
      return reinterpret_cast<const float*>(data_)[i];
    case DType::kF16:
    case DType::kBF16:
      return decode_float(shape_.dtype, reinterpret_cast<const uint16_t*>(data_)[i]);
    case DType::kU64:
      return static_cast<double>(reinterpret_cast<const uint64_t*>(data_)[i]);
    case DType::kC64:
      return reinterpret_cast<const float*>(data_)[2 * i];
    case DType::kC128:
      return reinterpret_cast<const double*>(data_)[2 * i];
    default:
      if (is_float(shape_.dtype))
        return decode_float(shape_.dtype, reinterpret_cast<const uint8_t*>(data_)[i]);
      if (is_integral(shape_.dtype)) return static_cast<double>(get_int(i));
      throw internal_error("{} has no elements", to_string(shape_));
  }
}

std::complex<double> Literal::get_complex(int64_t i) const {
  if (shape_.dtype == DType::kC64)
    return {reinterpret_cast<const float*>(data_)[2 * i], reinterpret_cast<const float*>(data_)[2 * i + 1]};
  if (shape_.dtype == DType::kC128)
    return {reinterpret_cast<const double*>(data_)[2 * i], reinterpret_cast<const double*>(data_)[2 * i + 1]};
  return get_double(i);
}

void Literal::set_int(int64_t i, int64_t value) {
  switch (shape_.dtype) {
    case DType::kPred:
      reinterpret_cast<uint8_t*>(data_)[i] = value != 0;
      return;
    case DType::kU1:
    case DType::kU2:
    case DType::kU4:
      reinterpret_cast<uint8_t*>(data_)[i] =
          static_cast<uint8_t>(value & ((1 << bit_width(shape_.dtype)) - 1));
      return;
    case DType::kS1:
    case DType::kS2:
    case DType::kS4:
      reinterpret_cast<int8_t*>(data_)[i] = static_cast<int8_t>(sign_extend(value, bit_width(shape_.dtype)));
      return;
    case DType::kS8:
    case DType::kU8:
      reinterpret_cast<uint8_t*>(data_)[i] = static_cast<uint8_t>(value);
      return;
    case DType::kS16:
    case DType::kU16:
      reinterpret_cast<uint16_t*>(data_)[i] = static_cast<uint16_t>(value);
      return;
    case DType::kS32:
    case DType::kU32:
      reinterpret_cast<uint32_t*>(data_)[i] = static_cast<uint32_t>(value);
      return;
    case DType::kS64:
    case DType::kU64:
      reinterpret_cast<int64_t*>(data_)[i] = value;
      return;
    case DType::kF32:
      reinterpret_cast<float*>(data_)[i] = static_cast<float>(value);
      return;  // once rounded, not twice
    default:
      set_double(i, static_cast<double>(value));
  }
}

void Literal::set_double(int64_t i, double value) {
  switch (shape_.dtype) {
    case DType::kF64:
      reinterpret_cast<double*>(data_)[i] = value;
      return;
    case DType::kF32:
      reinterpret_cast<float*>(data_)[i] = static_cast<float>(value);
      return;
    case DType::kF16:
    case DType::kBF16:
      reinterpret_cast<uint16_t*>(data_)[i] = static_cast<uint16_t>(encode_float(shape_.dtype, value));
      return;
    case DType::kPred:
      reinterpret_cast<uint8_t*>(data_)[i] = value != 0;
      return;
    case DType::kS8:
      set_int(i, saturate<int8_t>(value));
      return;
    case DType::kS16:
      set_int(i, saturate<int16_t>(value));
      return;
    case DType::kS32:
      set_int(i, saturate<int32_t>(value));
      return;
    case DType::kS64:
      set_int(i, saturate<int64_t>(value));
      return;
    case DType::kU8:
      set_int(i, saturate<uint8_t>(value));
      return;
    case DType::kU16:
      set_int(i, saturate<uint16_t>(value));
      return;
    case DType::kU32:
      set_int(i, saturate<uint32_t>(value));
      return;
    case DType::kU64:
      set_int(i, saturate<uint64_t>(value));
      return;
    case DType::kC64:
    case DType::kC128:
      set_complex(i, value);
      return;
    default:
      if (is_float(shape_.dtype))
        reinterpret_cast<uint8_t*>(data_)[i] = static_cast<uint8_t>(encode_float(shape_.dtype, value));
      else if (is_integer(shape_.dtype))
        set_int(i, saturate_narrow(value, bit_width(shape_.dtype), is_signed(shape_.dtype)));
      else
        throw internal_error("{} has no elements", to_string(shape_));
  }
}

void Literal::set_complex(int64_t i, std::complex<double> value) {
  if (shape_.dtype == DType::kC64) {
    reinterpret_cast<float*>(data_)[2 * i] = static_cast<float>(value.real());
    reinterpret_cast<float*>(data_)[2 * i + 1] = static_cast<float>(value.imag());
  } else if (shape_.dtype == DType::kC128) {
    reinterpret_cast<double*>(data_)[2 * i] = value.real();
    reinterpret_cast<double*>(data_)[2 * i + 1] = value.imag();
  } else {
    set_double(i, value.real());
  }
}

void Literal::check_element_count(int64_t count) const {
  if (count != size())
    throw user_error("{} has {} elements, but {} values are given", to_string(shape_), size(), count);
}

Literal Literal::clone() const {
  Literal copy = *this;
  for (Literal& element : copy.tuple_) element = element.clone();
  if (is_tuple()) return copy;
  copy.owner_ = allocate_zeroed(size_bytes());
  copy.data_ = static_cast<std::byte*>(copy.owner_.get());
  if (data_) std::memcpy(copy.data_, data_, static_cast<size_t>(size_bytes()));
  return copy;
}

Literal Literal::reshaped(Shape shape) const {
  if (shape.is_tuple() || is_tuple() || shape.dtype != dtype() || shape.num_elements() != size())
    throw internal_error("{} cannot be seen as {}", to_string(shape_), to_string(shape));
  Literal other = *this;
  other.shape_ = std::move(shape);
  return other;
}

bool Literal::is_splat() const {
  if (is_tuple() || elided_ || size() == 0) return false;
  const size_t element = static_cast<size_t>(byte_size(dtype()));
  // Every element equals its predecessor.
  return std::memcmp(data_, data_ + element, static_cast<size_t>(size_bytes()) - element) == 0;
}

bool operator==(const Literal& a, const Literal& b) {
  if (!a.shape_.compatible(b.shape_) || a.elided_ != b.elided_) return false;
  if (a.is_tuple()) return a.tuple_ == b.tuple_;
  if (a.elided_) return a.data_ == b.data_;  // two unknown values are not known to be equal
  return std::memcmp(a.data_, b.data_, static_cast<size_t>(a.size_bytes())) == 0;
}

}  // namespace armillary
