#include "xla_core/io/vhlo/byte_reader.h"

#include <gtest/gtest.h>

namespace armillary::vhlo {
namespace {

template <size_t kSize>
ByteReader reader(const uint8_t (&bytes)[kSize]) {
  return {std::as_bytes(std::span(bytes)), std::as_bytes(std::span(bytes)).data()};
}

TEST(ByteReader, a_varint_is_as_long_as_its_first_byte_says) {
  const uint8_t bytes[] = {0x07, 0x8a, 0x02, 0x80, 1, 2, 3, 4, 5, 6, 7, 0x00, 1, 2, 3, 4, 5, 6, 7, 8};
  ByteReader in = reader(bytes);
  EXPECT_EQ(in.varint(), 3u);
  EXPECT_EQ(in.varint(), 162u);
  EXPECT_EQ(in.varint(), 0x07060504030201u);
  EXPECT_EQ(in.varint(), 0x0807060504030201u);
  EXPECT_TRUE(in.empty());
}

TEST(ByteReader, signs_and_flags_lie_in_the_lowest_bit) {
  const uint8_t bytes[] = {(3 << 1) | 1, (4 << 1) | 1, (5 << 1) | 1};
  ByteReader in = reader(bytes);
  EXPECT_EQ(in.signed_varint(), -2);
  EXPECT_EQ(in.signed_varint(), 2);
  const Flagged n = in.flagged();
  EXPECT_EQ(n.value, 2u);
  EXPECT_TRUE(n.flag);
}

TEST(ByteReader, the_end_is_an_error_and_never_passed) {
  const uint8_t bytes[] = {0x02};
  EXPECT_THROW(reader(bytes).varint(), Error);
  ByteReader in = reader(bytes);
  EXPECT_THROW(in.bytes(2), Error);
  EXPECT_THROW(in.bytes(UINT64_MAX), Error);
  EXPECT_EQ(in.left(), 1u);
}

TEST(ByteReader, a_count_is_never_more_than_what_is_left) {
  const uint8_t bytes[] = {(4 << 1) | 1, 0, 0, 0};
  EXPECT_THROW(reader(bytes).count(), Error);
}

TEST(ByteReader, padding_is_skipped_up_to_the_alignment) {
  const uint8_t bytes[] = {1, 0xcb, 0xcb, 0xcb, 9};
  ByteReader in = reader(bytes);
  in.byte();
  in.align(4);
  EXPECT_EQ(in.byte(), 9);
  EXPECT_THROW(in.align(3), Error);
}

TEST(ByteReader, texts_end_with_a_zero) {
  const uint8_t bytes[] = {'a', 'b', 0, 'c'};
  ByteReader in = reader(bytes);
  EXPECT_EQ(in.null_terminated(), "ab");
  EXPECT_THROW(in.null_terminated(), Error);
}

}  // namespace
}  // namespace armillary::vhlo
