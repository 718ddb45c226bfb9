#include "xla_core/io/vhlo/byte_reader.h"

#include <bit>

namespace armillary::vhlo {

bool is_utf8(std::string_view bytes) {
  for (size_t i = 0; i < bytes.size();) {
    const auto first = static_cast<uint8_t>(bytes[i++]);
    if (first < 0x80) continue;
    const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc2 || first > 0xf4 || i + more > bytes.size()) return false;
    const auto second = static_cast<uint8_t>(bytes[i]);
    const bool too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    const bool out_of_range = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
    if (too_long || out_of_range) return false;
    for (int k = 0; k < more; ++k)
      if ((static_cast<uint8_t>(bytes[i++]) & 0xc0) != 0x80) return false;
  }
  return true;
}

uint8_t ByteReader::byte() { return static_cast<uint8_t>(bytes(1)[0]); }

uint64_t ByteReader::long_varint() {
  const uint8_t first = byte();
  const int extra = first == 0 ? 8 : std::countr_zero(first);
  uint64_t rest = 0;
  const Bytes tail = bytes(extra);
  for (int i = 0; i < extra; ++i) rest |= static_cast<uint64_t>(tail[i]) << (8 * i);
  if (extra == 8) return rest;
  return (static_cast<uint64_t>(first) >> (extra + 1)) | (rest << (7 - extra));
}

int64_t ByteReader::signed_varint() {
  const uint64_t n = varint();
  return static_cast<int64_t>((n >> 1) ^ (~(n & 1) + 1));
}

Flagged ByteReader::flagged() {
  const uint64_t n = varint();
  return {n >> 1, (n & 1) != 0};
}

size_t ByteReader::fitting(uint64_t n) const {
  if (n > bytes_.size())
    throw user_error("{} things are announced where {} bytes are left", n, bytes_.size());
  return static_cast<size_t>(n);
}

Bytes ByteReader::bytes(uint64_t n) {
  if (n > bytes_.size()) throw user_error("it ends {} bytes too early", n - bytes_.size());
  const Bytes result = bytes_.first(static_cast<size_t>(n));
  bytes_ = bytes_.subspan(static_cast<size_t>(n));
  return result;
}

std::string_view ByteReader::null_terminated() {
  const std::string_view text = as_text(bytes_);
  const size_t end = text.find('\0');
  if (end == std::string_view::npos) throw user_error("a text has no end");
  bytes(end + 1);
  return text.substr(0, end);
}

void ByteReader::align(uint64_t alignment) {
  if (!std::has_single_bit(alignment) || alignment > (1u << 20))
    throw user_error("an alignment of {} bytes", alignment);
  while ((bytes_.data() - origin_) % static_cast<int64_t>(alignment) != 0) bytes(1);
}

}  // namespace armillary::vhlo
