// Elements as unsigned integers that compare the way the elements do, and entries that carry their position
// along.
#pragma once

#include <cstddef>
#include <cstdint>

#include "xla_core/shape/dtype.h"

namespace armillary::native {

struct KeyOrder {
  bool descending = false;
  // Zeros are equal and so are all NaNs, which come after everything else: the order of JAX's sort. Otherwise
  // IEEE's total order, in which -0 < +0, and NaNs stand at both ends according to their sign.
  bool canonical = true;
};

// Turns elements into keys. Keys of dtypes up to 32 bits fit in the low half.
class KeyReader {
 public:
  KeyReader(DType dtype, KeyOrder order);

  static bool supports(DType d) { return is_integral(d) || is_float(d); }
  bool wide() const { return width_ == 8; }
  int width() const { return width_; }

  // keys[i] = the key of the element at data + i * step elements, for i < n.
  template <class Key>
  void read(const std::byte* data, int64_t step, int64_t n, Key* keys) const;

 private:
  enum Kind : uint8_t { kPlain, kFnuz, kCanonicalFloat, kTotalFloat };
  struct Rule {  // everything a loop needs, by value
    Kind kind = kPlain;
    uint64_t all = 0, sign = 0, flip = 0, nan_above = 0;
  };

  template <class Word, class Key>
  static void read_words(Rule rule, const std::byte* data, int64_t step, int64_t n, Key* keys);

  Rule rule_;
  int width_;
};

// A key and the position it came from; positions make entries distinct, so that every sorting method is
// stable and gives the same result.
struct NarrowEntry {
  using Key = uint32_t;
  uint64_t value;  // key in the high half, position in the low
  static NarrowEntry make(uint64_t key, uint32_t at) { return {key << 32 | at}; }
  uint32_t position() const { return static_cast<uint32_t>(value); }
  uint64_t key() const { return value >> 32; }
  friend bool operator<(NarrowEntry a, NarrowEntry b) { return a.value < b.value; }
};
struct WideEntry {
  using Key = uint64_t;
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
