// A cursor over bytes in MLIR's encoding: every read is checked, what a count asks for is never more than
// what is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "xla_core/base/error.h"

namespace armillary::vhlo {

using Bytes = std::span<const std::byte>;

inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// What is shown to people must be text.
bool is_utf8(std::string_view bytes);

struct Flagged {
  uint64_t value;
  bool flag;
};

class ByteReader {
 public:
  // `origin` is where the file begins: alignments count from there.
  ByteReader(Bytes bytes, const std::byte* origin) : bytes_(bytes), origin_(origin) {}

  bool empty() const { return bytes_.empty(); }
  size_t left() const { return bytes_.size(); }
  uint8_t byte();
  // One to nine bytes; the zeros at the low end of the first one count the others.
  uint64_t varint() {
    if (!bytes_.empty() && (static_cast<uint8_t>(bytes_[0]) & 1)) return byte() >> 1;
    return long_varint();
  }
  int64_t signed_varint();  // the sign lies in the lowest bit
  Flagged flagged();        // a varint with a flag in its lowest bit
  // How many things follow, each of which takes a byte at least.
  size_t count() { return fitting(varint()); }
  size_t fitting(uint64_t n) const;
  Bytes bytes(uint64_t n);
  std::string_view null_terminated();
  void align(uint64_t alignment);  // over bytes of padding
  ByteReader part(uint64_t n) { return {bytes(n), origin_}; }

 private:
  uint64_t long_varint();

  Bytes bytes_;
  const std::byte* origin_;
};

}  // namespace armillary::vhlo
