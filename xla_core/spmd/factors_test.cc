#include "xla_core/spmd/factors.h"

#include <gtest/gtest.h>

#include "xla_core/base/error.h"

namespace armillary {
namespace {

Sharding read(const std::string& text, int64_t rank) { return parse_sharding(text, {rank}, 4)[0].sharding; }

Factors::Cuts follow(const std::string& rule, Factors::Cuts known) { return *Factors(rule).follow(known, 4); }

constexpr const char* kProduct =
    "#sdy.op_sharding_rule<([i, j], [j, k])->([i, k]) {i=8, j=8, k=8} reduction={j}, custom>";

TEST(Factors, results_follow_operands) {
  const auto cuts = follow(kProduct, {{read("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", 2),
                                       read("{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}", 2)},
                                      {std::nullopt}});
  EXPECT_EQ(to_string(*cuts.results[0]), to_string(read("{devices=[2,2]<=[4]}", 2)));
}

TEST(Factors, operands_follow_results) {
  const auto cuts = follow(kProduct, {{std::nullopt, std::nullopt}, {read("{devices=[2,2]<=[4]}", 2)}});
  EXPECT_EQ(to_string(*cuts.operands[0]),
            to_string(read("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", 2)));
  EXPECT_EQ(to_string(*cuts.operands[1]),
            to_string(read("{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}", 2)));
}

// Both dimensions of the result would be cut over the same devices: the first wins.
TEST(Factors, devices_cut_an_array_once) {
  const auto cuts =
      follow(kProduct, {{read("{devices=[4,1]<=[4]}", 2), read("{devices=[1,4]<=[4]}", 2)}, {std::nullopt}});
  EXPECT_EQ(to_string(*cuts.results[0]), to_string(read("{devices=[4,1]<=[4]}", 2)));
}

TEST(Factors, dimensions_have_several_factors) {
  const std::string rule = "#sdy.op_sharding_rule<([ik, j], [ijk])->([ikj]) {i=2, j=2, k=2}, custom>";
  const auto cuts = follow(rule, {{read("{devices=[4,1]<=[4]}", 2), std::nullopt}, {std::nullopt}});
  EXPECT_EQ(to_string(*cuts.results[0]), to_string(read("{devices=[4]<=[4]}", 1)));
  // Its next factor is whole, and what follows that would not be contiguous.
  EXPECT_EQ(to_string(*cuts.operands[1]), to_string(read("{devices=[2,2]<=[4] last_tile_dim_replicate}", 1)));
}

TEST(Factors, some_are_not_to_be_cut) {
  const std::string rule =
      "#sdy.op_sharding_rule<([i, z_1])->([i, z_1]) {i=8, z_1=8} need_replication={z_1}, custom>";
  const auto cuts = follow(rule, {{read("{devices=[2,2]<=[4]}", 2)}, {std::nullopt}});
  EXPECT_EQ(to_string(*cuts.results[0]),
            to_string(read("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", 2)));
}

TEST(Factors, a_rule_for_another_call_does_not_fit) {
  EXPECT_FALSE(Factors(kProduct).follow({{std::nullopt}, {std::nullopt}}, 4));
  EXPECT_FALSE(Factors(kProduct).follow({{read("{devices=[4]<=[4]}", 1), std::nullopt}, {std::nullopt}}, 4));
  EXPECT_THROW(Factors("#sdy.op_sharding_rule<([i"), Error);
}

}  // namespace
}  // namespace armillary
