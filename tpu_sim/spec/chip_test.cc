#include "tpu_sim/spec/chip.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

std::vector<Constant> constants_of(std::string_view chip) { return find_chip(chip).constants(); }

TEST(Chips, all_nine_are_there_and_every_constant_has_a_source) {
  ASSERT_EQ(chips().size(), 9u);
  for (const Chip& chip : chips()) {
    ASSERT_EQ(chip.constants().size(), chip_keys().size());
    for (size_t i = 0; i < chip_keys().size(); ++i) {
      EXPECT_FALSE(chip.constants()[i].source.empty()) << chip.name() << " " << chip_keys()[i].name;
    }
  }
}

// Multiply-adds of the stated units at the stated clock, against the stated peak.
TEST(Chips, clocks_and_units_give_the_peak_where_the_sources_agree) {
  for (const char* name : {"v2", "v4", "v4i", "v5e", "v5p"}) {
    const Chip& c = find_chip(name);
    const double flops = 2 * c["clock_hz"] * c["cores"] * c["mxus_per_core"] * c["mxu_rows"] * c["mxu_cols"];
    EXPECT_NEAR(flops / c["peak_bf16_flops"], 1, 0.01) << name;
  }
  const Chip& v1 = find_chip("v1");
  EXPECT_NEAR(2 * v1["clock_hz"] * v1["mxu_rows"] * v1["mxu_cols"] / v1["peak_int8_ops"], 1, 0.01);
}

TEST(Chips, a_pod_has_as_many_extents_as_the_torus_has_axes) {
  EXPECT_TRUE(find_chip("v1").pod().empty());
  EXPECT_EQ(find_chip("v5e").pod(), (std::vector<int>{16, 16}));
  EXPECT_EQ(find_chip("v4").pod(), (std::vector<int>{16, 16, 16}));
}

TEST(Chips, figures_published_for_them_are_theirs) {
  EXPECT_EQ(find_chip("v5e")["peak_bf16_flops"], 197e12);
  EXPECT_EQ(find_chip("v6e")["hbm_bytes_per_s"], 1638e9);
  EXPECT_EQ(find_chip("v7x")["hbm_bytes"], 192.0 * (1 << 30));
  EXPECT_TRUE(find_chip("v6e").constant("clock_hz").assumed());
  EXPECT_FALSE(find_chip("v5e").constant("clock_hz").assumed());
}

TEST(Chips, an_unknown_chip_is_named_with_those_there_are) {
  EXPECT_EQ(message_of([] { find_chip("v9"); }),
            "there is no chip 'v9'; there are v1, v2, v3, v4, v4i, v5e, v5p, v6e, v7x");
}

TEST(Chips, values_out_of_range_are_refused) {
  auto constants = constants_of("v5e");
  constants[0].value = NAN;
  EXPECT_NE(message_of([&] { Chip("mine", constants); }).find("mine: clock_hz is nan"), std::string::npos);
  constants = constants_of("v5e");
  constants[1].value = 1.5;
  EXPECT_NE(message_of([&] { Chip("mine", constants); }).find("cores is 1.5, but must be a whole number"),
            std::string::npos);
  constants.pop_back();
  EXPECT_NE(message_of([&] { Chip("mine", constants); }).find("36 constants"), std::string::npos);
}

}  // namespace
}  // namespace armillary::sim
