#include "xla_core/base/flags.h"

#include <functional>

#include <gtest/gtest.h>

#include "xla_core/base/error.h"
#include "xla_core/base/text.h"

namespace armillary {
namespace {

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kUser);
    return e.message();
  }
  return "";
}

TEST(Flags, are_set_from_text_with_commas_spaces_and_dashes) {
  set_flags("--threads=3, pass_fuel=7 verify_each");
  EXPECT_EQ(flags().threads, 3);
  EXPECT_EQ(flags().pass_fuel, 7);
  EXPECT_TRUE(flags().verify_each);
  set_flag("verify_each", "false");
  EXPECT_FALSE(flags().verify_each);
}

TEST(Flags, an_unknown_one_names_the_nearest_known_one) {
  EXPECT_EQ(message_of([] { set_flag("verfiy_each", "1"); }),
            "there is no flag `verfiy_each`; did you mean `verify_each`?");
}

TEST(Flags, a_wrong_value_says_what_is_needed_and_changes_nothing) {
  set_flags("threads=5");
  EXPECT_EQ(message_of([] { set_flags("threads=2,pass_fuel=many"); }),
            "flag pass_fuel is `many`, but it needs a whole number");
  EXPECT_EQ(flags().threads, 5);
  EXPECT_EQ(message_of([] { set_flag("verify_each", "2"); }),
            "flag verify_each is `2`, but it is a switch: true or false");
}

TEST(Flags, a_number_that_makes_no_sense_is_refused) {
  EXPECT_EQ(message_of([] { set_flag("threads", "-5"); }), "flag threads is `-5`, but it must be at least 0");
  EXPECT_EQ(message_of([] { set_flag("vector_bits", "7"); }),
            "flag vector_bits is `7`, but it must be 0, 128, 256 or 512");
  EXPECT_EQ(message_of([] { set_flag("devices", "2000000"); }),
            "flag devices is `2000000`, but it must be 0 to 1048576");
  EXPECT_EQ(message_of([] { parse_xla_flags("--xla_force_host_platform_device_count=0"); }),
            "flag xla_force_host_platform_device_count is `0`, but it must be at least 1");
  set_flag("pass_fuel", "-1");
  EXPECT_EQ(flags().pass_fuel, -1);
}

TEST(Flags, defaults_are_among_the_values_they_take) {
  for (const FlagInfo& flag : list_flags())
    if (flag.type == "int64_t") set_flag(flag.name, flag.fallback);
}

TEST(Flags, the_list_shows_defaults_and_values) {
  set_flag("constant_folding_max_bytes", "42");
  bool seen = false;
  for (const FlagInfo& flag : list_flags())
    if (flag.name == "constant_folding_max_bytes") {
      seen = true;
      EXPECT_EQ(flag.fallback, "1048576");
      EXPECT_EQ(flag.values, "at least 0");
      EXPECT_EQ(flag.value, "42");
    }
  EXPECT_TRUE(seen);
}

TEST(XlaFlags, the_known_ones_are_read_and_others_ignored) {
  const XlaFlags f = parse_xla_flags(
      "--xla_dump_to=/a/b --xla_something_else=3 --xla_dump_hlo_as_dot --xla_dump_hlo_pass_re=fus.* "
      "--xla_disable_hlo_passes=cse,dce --xla_force_host_platform_device_count=8");
  EXPECT_EQ(f.dump_to, "/a/b");
  EXPECT_TRUE(f.dump_dot);
  EXPECT_FALSE(f.dump_text);
  EXPECT_EQ(f.dump_pass_regex, "fus.*");
  EXPECT_EQ(f.disabled_passes, (std::vector<std::string>{"cse", "dce"}));
  EXPECT_EQ(f.host_device_count, 8);
  XlaFlags changed = f;
  EXPECT_TRUE(override_xla_flag(changed, "xla_dump_to", "a path"));
  EXPECT_FALSE(override_xla_flag(changed, "xla_something_else", "3"));
  EXPECT_EQ(changed.dump_to, "a path");
  EXPECT_TRUE(changed.dump_dot);
}

TEST(Text, edit_distance_counts_swaps_as_one) {
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("ab", "ba"), 1);
  EXPECT_EQ(nearest_name("ad", {"sub", "add", "mul"}), "add");
  EXPECT_EQ(split(" a,,b ", ", "), (std::vector<std::string_view>{"a", "b"}));
}

}  // namespace
}  // namespace armillary
