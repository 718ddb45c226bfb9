#include "xla_core/hlo/device_groups.h"

#include <gtest/gtest.h>

#include "xla_core/hlo/module.h"
#include "xla_core/hlo/text.h"

namespace armillary {
namespace {

using Groups = std::vector<DeviceList>;

TEST(ReplicaGroups, AllForms) {
  EXPECT_EQ(parse_replica_groups("{}"), Groups{});
  EXPECT_EQ(parse_replica_groups("{{0,2},{1,3}}"), (Groups{{0, 2}, {1, 3}}));
  EXPECT_EQ(parse_replica_groups("[2,4]<=[8]"), (Groups{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(parse_replica_groups("[4,2]<=[2,4]T(1,0)"), (Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(parse_replica_groups("[1,12]<=[2,3,2]T(2,0,1)"),
            (Groups{{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}}));
  EXPECT_EQ(parse_replica_groups("mesh['x'=2,'y'=4] {'y'}"), (Groups{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(parse_replica_groups("mesh['x'=2,'y'=4] {'x'}"), (Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(parse_replica_groups("mesh['x'=2,'y'=2] {'y','x'}"), (Groups{{0, 2, 1, 3}}));
  EXPECT_EQ(parse_replica_groups("mesh['x'=8] {'x':(2)2}"), (Groups{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(parse_replica_groups("mesh['x'=2,'y'=2], device_ids=(3,2,1,0) {'y'}"), (Groups{{3, 2}, {1, 0}}));
}

TEST(ReplicaGroups, RefusesWhatIsNone) {
  for (const char* text :
       {"", "{{0}", "[2,4]<=[7]", "[2]<=[2]", "[1,4]<=[2,2]T(0,0)", "[1,4]<=[2,2]T(0)", "mesh['x'=2] {'y'}",
        "mesh['x'=2] {'x','x'}", "mesh['x'=6] {'x':(4)2}", "[1,1]<=[9999999999,9999999999]",
        "mesh['x'=0] {'x'}", "mesh['x'=2], device_ids=(0) {'x'}"})
    EXPECT_THROW(parse_replica_groups(text), Error) << text;
}

// Two replicas of three partitions.
Groups groups_of(const std::string& op, const std::string& attributes) {
  const std::string text =
      "HloModule m, replica_count=2, num_partitions=3\n"
      "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
      "ENTRY e { p = f32[6] parameter(0) ROOT r = f32[6] " +
      op + "(p), " + attributes + " }";
  auto m = parse(text);
  return device_groups(*m->entry()->root());
}

TEST(DeviceGroups, WhatIdsCount) {
  const std::string add = ", to_apply=add";
  EXPECT_EQ(groups_of("all-reduce", "replica_groups={}" + add), (Groups{{0, 3}, {1, 4}, {2, 5}}));
  EXPECT_EQ(groups_of("all-reduce", "replica_groups={{0},{1}}, channel_id=1" + add),
            (Groups{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(groups_of("all-reduce",
                      "replica_groups={{0,5},{1,2,3,4}}, channel_id=1, "
                      "use_global_device_ids=true" +
                          add),
            (Groups{{0, 5}, {1, 2, 3, 4}}));
  EXPECT_EQ(groups_of("all-to-all", "replica_groups={{2,0}}, channel_id=1, dimensions={0}"),
            (Groups{{2, 0}, {5, 3}}));
}

TEST(DeviceGroups, DevicesMustExistOnce) {
  EXPECT_THROW(groups_of("all-to-all", "replica_groups={{0,2}}, dimensions={0}"), Error);
  EXPECT_THROW(groups_of("all-to-all", "replica_groups={{0,1},{1}}, dimensions={0}"), Error);
}

}  // namespace
}  // namespace armillary
