// Reference values: Salmon's known-answer vectors, and streams observed from XLA for the numbering of
// elements.
#include "xla_core/interp/testing.h"

namespace armillary {
namespace {

std::string bits(const std::string& state, const std::string& shape, const std::string& algorithm,
                 const std::string& value) {
  return run_text(
      fmt::format(
          "ENTRY e {{ s = {0} parameter(0) ROOT r = ({0}, {1}) rng-bit-generator(s), algorithm={2} }}", state,
          shape, algorithm),
      {value});
}

TEST(RngBitGenerator, gives_the_known_answers_for_zero) {
  EXPECT_EQ(bits("u64[2]", "u64[1]", "rng_three_fry", "{0, 0}"),
            fmt::format("( {{0, 1}}, {{{}}} )", 0x99ba4efe6b200159));
  EXPECT_EQ(
      bits("u64[3]", "u32[4]", "rng_philox", "{0, 0, 0}"),
      fmt::format("( {{0, 1, 0}}, {{{}, {}, {}, {}}} )", 0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
}

TEST(RngBitGenerator, pairs_lie_side_by_side_in_the_first_even_dimension) {
  // 0x3c3b507a, 0x7093e72c are the two halves of the first block.
  EXPECT_EQ(bits("u64[2]", "u32[2,1]", "rng_three_fry", "{1311768467463790320, 18446744073709551614}"),
            fmt::format("( {{1311768467463790320, 18446744073709551615}}, {{ {{ {} }}, {{ {} }} }} )",
                        0x3c3b507au, 0x7093e72cu));
}

TEST(RngBitGenerator, a_short_philox_state_lends_its_key_to_the_counter) {
  EXPECT_EQ(bits("u64[2]", "u32[3]", "rng_default", "{1311768467463790320, 18446744073709551614}"),
            fmt::format("( {{1311768467463790320, 18446744073709551615}}, {{{}, {}, {}}} )", 0xbbd856ffu,
                        0xb795d4a1u, 0x9db4dbb7u));
}

TEST(Rng, uniform_numbers_lie_between_their_bounds_and_repeat) {
  constexpr auto hlo = R"(
    and { a = pred[] parameter(0) b = pred[] parameter(1) ROOT r = pred[] and(a, b) }
    ENTRY e { a = f32[] constant(-1) b = f32[] constant(2) x = f32[1000] rng(a, b), distribution=rng_uniform
      la = f32[1000] broadcast(a), dimensions={} lb = f32[1000] broadcast(b), dimensions={}
      g = pred[1000] compare(x, la), direction=GE l = pred[1000] compare(x, lb), direction=LT both = pred[1000] and(g, l)
      t = pred[] constant(true) ROOT r = pred[] reduce(both, t), dimensions={0}, to_apply=and })";
  EXPECT_EQ(run_text(hlo), "true");
}

}  // namespace
}  // namespace armillary
