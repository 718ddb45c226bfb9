#include "xla_core/backends/cpu/native/sort_keys.h"

namespace armillary::native {
namespace {

// Negative floats in reverse, positive ones above them.
uint64_t ordered(uint64_t bits, uint64_t sign, uint64_t all) {
  return bits & sign ? ~bits & all : bits | sign;
}

}  // namespace

KeyReader::KeyReader(DType dtype, KeyOrder order) : width_(byte_size(dtype)) {
  const DTypeInfo& d = info(dtype);
  rule_.all = width_ == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * width_)) - 1;
  rule_.sign = uint64_t{1} << (8 * width_ - 1);
  rule_.flip = order.descending ? rule_.all : 0;
  if (is_signed(dtype)) rule_.flip ^= rule_.sign;
  if (!is_float(dtype) || d.style == FloatStyle::kE8M0)
    return;  // e8m0 is unsigned, its NaN is the greatest byte
  rule_.kind = d.style == FloatStyle::kFnuz ? kFnuz : order.canonical ? kCanonicalFloat : kTotalFloat;
  // Magnitudes above this are NaNs.
  const uint64_t infinity = ((uint64_t{1} << d.exponent_bits) - 1) << d.mantissa_bits;
  rule_.nan_above = !d.has_nan ? rule_.all : d.style == FloatStyle::kIeee ? infinity : (rule_.all >> 1) - 1;
}

template <class Word, class Key>
void KeyReader::read_words(Rule rule, const std::byte* data, int64_t step, int64_t n, Key* keys) {
  const Word* in = reinterpret_cast<const Word*>(data);
  const Key all = static_cast<Key>(rule.all), sign = static_cast<Key>(rule.sign),
            flip = static_cast<Key>(rule.flip);
  const Key nan_above = static_cast<Key>(rule.nan_above);
  switch (rule.kind) {
    case kPlain:
      for (int64_t i = 0; i < n; ++i) keys[i] = in[i * step] ^ flip;
      return;
    case kFnuz:
      for (int64_t i = 0; i < n; ++i) {
        const Key bits = in[i * step];
        keys[i] = (bits == sign ? all : static_cast<Key>(ordered(bits, sign, all))) ^ flip;
      }
      return;
    case kTotalFloat:
      for (int64_t i = 0; i < n; ++i) {
        const Key bits = in[i * step];
        keys[i] = (bits & sign ? ~bits & all : bits | sign) ^ flip;
      }
      return;
    case kCanonicalFloat:
      for (int64_t i = 0; i < n; ++i) {
        const Key bits = in[i * step], magnitude = bits & ~sign;
        const Key value = magnitude == 0 ? Key{0} : bits;
        const Key key = value & sign ? ~value & all : value | sign;
        keys[i] = (magnitude > nan_above ? all : key) ^ flip;
      }
      return;
  }
}

template <class Key>
void KeyReader::read(const std::byte* data, int64_t step, int64_t n, Key* keys) const {
  switch (width_) {
    case 1:
      return read_words<uint8_t>(rule_, data, step, n, keys);
    case 2:
      return read_words<uint16_t>(rule_, data, step, n, keys);
    case 4:
      return read_words<uint32_t>(rule_, data, step, n, keys);
    default:
      return read_words<uint64_t>(rule_, data, step, n, keys);
  }
}
template void KeyReader::read(const std::byte*, int64_t, int64_t, uint32_t*) const;
template void KeyReader::read(const std::byte*, int64_t, int64_t, uint64_t*) const;

}  // namespace armillary::native
