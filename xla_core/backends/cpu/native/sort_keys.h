// Elements as unsigned integers that compare the way the elements do, and entries that carry their position
// along.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "xla_core/shape/dtype.h"

namespace armillary::native {

struct KeyOrder {
  bool descending = false;
  // Zeros are equal and so are all NaNs, which come after everything else: the order of JAX's sort. Otherwise
  // IEEE's total order, in which -0 < +0, and NaNs stand at both ends according to their sign.
  bool canonical = true;
};

// Reads one element as a key. Keys of dtypes up to 32 bits fit in the low half.
class KeyReader {
 public:
  KeyReader(DType dtype, KeyOrder order) : dtype_(dtype), info_(info(dtype)), order_(order) {
    width_ = byte_size(dtype);
    bits_ = 8 * width_;
    all_ = bits_ == 64 ? ~uint64_t{0} : (uint64_t{1} << bits_) - 1;
    sign_ = uint64_t{1} << (bits_ - 1);
    if (is_float(dtype)) {
      const bool ieee = info_.style == FloatStyle::kIeee;
      infinity_ = ((uint64_t{1} << info_.exponent_bits) - 1) << info_.mantissa_bits;
      nan_above_ = ieee ? infinity_ : (all_ >> 1) - 1;  // kFn: all ones; magnitudes above this are NaNs
      if (!info_.has_nan) nan_above_ = all_;
    }
  }

  static bool supports(DType d) { return is_integral(d) || is_float(d); }
  bool wide() const { return bits_ == 64; }

  uint64_t operator()(const std::byte* element) const {
    uint64_t bits = 0;
    std::memcpy(&bits, element, width_);
    const uint64_t key = is_float(dtype_) ? float_key(bits) : is_signed(dtype_) ? bits ^ sign_ : bits;
    return order_.descending ? ~key & all_ : key;
  }

 private:
  uint64_t float_key(uint64_t bits) const {
    if (info_.style == FloatStyle::kE8M0) return bits;  // unsigned, its NaN is the greatest byte
    if (info_.style == FloatStyle::kFnuz) return bits == sign_ ? all_ : ordered(bits);
    if (order_.canonical) {
      const uint64_t magnitude = bits & ~sign_;
      if (magnitude > nan_above_) return all_;
      if (magnitude == 0) bits = 0;
    }
    return ordered(bits);
  }
  uint64_t ordered(uint64_t bits) const { return bits & sign_ ? ~bits & all_ : bits | sign_; }

  DType dtype_;
  const DTypeInfo& info_;
  KeyOrder order_;
  int width_, bits_;
  uint64_t all_, sign_, infinity_ = 0, nan_above_ = 0;
};

// A key and the position it came from; positions make entries distinct, so that every sorting method is
// stable and gives the same result.
struct NarrowEntry {
  uint64_t value;  // key in the high half, position in the low
  static NarrowEntry make(uint64_t key, uint32_t at) { return {key << 32 | at}; }
  uint32_t position() const { return static_cast<uint32_t>(value); }
  uint64_t key() const { return value >> 32; }
  friend bool operator<(NarrowEntry a, NarrowEntry b) { return a.value < b.value; }
};
struct WideEntry {
  uint64_t value;
  uint64_t at;
  static WideEntry make(uint64_t key, uint32_t at) { return {key, at}; }
  uint32_t position() const { return static_cast<uint32_t>(at); }
  uint64_t key() const { return value; }
  friend bool operator<(const WideEntry& a, const WideEntry& b) {
    return a.value != b.value ? a.value < b.value : a.at < b.at;
  }
};

}  // namespace armillary::native
