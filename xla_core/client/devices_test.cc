// Programs for several devices: each collective against what its definition says.
#include <gtest/gtest.h>

#include <numeric>

#include "xla_core/base/error.h"
#include "xla_core/client/client.h"
#include "xla_core/hlo/text.h"

namespace armillary {
namespace {

using Values = std::vector<float>;

constexpr std::string_view kAdd =
    "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n";

// Runs an entry on one f32 array for each device, and returns each device's result.
std::vector<Values> run(const std::string& header, const std::string& entry,
                        const std::vector<Values>& inputs) {
  const auto executable = Executable::compile(
      parse("HloModule m, " + header + "\n" + std::string(kAdd) + "ENTRY e {\n" + entry + "\n}"));
  std::vector<std::vector<Argument>> arguments;
  for (const Values& v : inputs) {
    Literal value(executable->program().parameter_shapes[0]);
    std::copy(v.begin(), v.end(), reinterpret_cast<float*>(value.bytes()));
    arguments.push_back({{value, false}});
  }
  std::vector<Values> out;
  for (const std::vector<Literal>& results : executable->execute_on_devices(arguments)) {
    const auto* data = reinterpret_cast<const float*>(results[0].bytes());
    out.emplace_back(data, data + results[0].shape().num_elements());
  }
  return out;
}

TEST(Devices, AllReduce) {
  EXPECT_EQ(run("num_partitions=4",
                "p = f32[3] parameter(0)\n ROOT r = f32[3] all-reduce(p), channel_id=1, "
                "use_global_device_ids=true, replica_groups={{0,3},{1,2}}, to_apply=add",
                {{1, 2, 3}, {10, 20, 30}, {100, 200, 300}, {1000, 2000, 3000}}),
            (std::vector<Values>{{1001, 2002, 3003}, {110, 220, 330}, {110, 220, 330}, {1001, 2002, 3003}}));
}

TEST(Devices, AllReduceWithAComputationOfItsOwn) {
  const std::string text =
      "HloModule m, replica_count=3\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
      " t = f32[] multiply(a, b)\n ROOT c = f32[] subtract(t, b) }\n"
      "ENTRY e { p = f32[1] parameter(0)\n ROOT r = f32[1] all-reduce(p), replica_groups={}, to_apply=f }";
  const auto executable = Executable::compile(parse(text));
  std::vector<std::vector<Argument>> arguments;
  for (float v : {2.f, 3.f, 5.f}) {
    Literal value(Shape(DType::kF32, {1}));
    *reinterpret_cast<float*>(value.bytes()) = v;
    arguments.push_back({{value, false}});
  }
  for (const auto& results : executable->execute_on_devices(arguments))
    EXPECT_EQ(*reinterpret_cast<const float*>(results[0].bytes()), (2 * 3 - 3) * 5 - 5);
}

TEST(Devices, AllGatherAlongTheMinorDimension) {
  EXPECT_EQ(
      run("replica_count=2", "p = f32[2,1] parameter(0)\n ROOT r = f32[2,2] all-gather(p), dimensions={1}",
          {{1, 2}, {3, 4}}),
      (std::vector<Values>{{1, 3, 2, 4}, {1, 3, 2, 4}}));
}

TEST(Devices, ReduceScatter) {
  EXPECT_EQ(
      run("replica_count=2",
          "p = f32[2,2] parameter(0)\n ROOT r = f32[2,1] reduce-scatter(p), dimensions={1}, to_apply=add",
          {{1, 2, 3, 4}, {10, 20, 30, 40}}),
      (std::vector<Values>{{11, 33}, {22, 44}}));
}

TEST(Devices, AllToAll) {
  EXPECT_EQ(
      run("replica_count=2", "p = f32[2,2] parameter(0)\n ROOT r = f32[2,2] all-to-all(p), dimensions={1}",
          {{1, 2, 3, 4}, {5, 6, 7, 8}}),
      (std::vector<Values>{{1, 5, 3, 7}, {2, 6, 4, 8}}));
}

TEST(Devices, AllToAllOfSeveralArrays) {
  EXPECT_EQ(run("replica_count=2",
                "p = f32[1] parameter(0)\n q = f32[1] negate(p)\n"
                "t = (f32[1], f32[1]) all-to-all(p, q), replica_groups={{1,0}}\n"
                "a = f32[1] get-tuple-element(t), index=0\n b = f32[1] get-tuple-element(t), index=1\n"
                "ROOT r = f32[2] concatenate(a, b), dimensions={0}",
                {{1}, {2}}),
            (std::vector<Values>{{-2, -1}, {2, 1}}));
}

TEST(Devices, PermuteGivesZerosToWhoGetsNothing) {
  EXPECT_EQ(run("num_partitions=3",
                "p = f32[1] parameter(0)\n ROOT r = f32[1] collective-permute(p), channel_id=1, "
                "source_target_pairs={{0,1},{1,0}}",
                {{1}, {2}, {3}}),
            (std::vector<Values>{{2}, {1}, {0}}));
}

TEST(Devices, Broadcast) {
  EXPECT_EQ(run("replica_count=3",
                "p = f32[1] parameter(0)\n ROOT r = f32[1] collective-broadcast(p), replica_groups={{2,0}}",
                {{1}, {2}, {3}}),
            (std::vector<Values>{{3}, {0}, {3}}));
}

TEST(Devices, AsynchronousPairs) {
  EXPECT_EQ(run("replica_count=2",
                "p = f32[1] parameter(0)\n"
                "s = (f32[1], f32[2]) all-gather-start(p), dimensions={0}\n g = f32[2] all-gather-done(s)\n"
                "a = f32[2] all-reduce-start(g), to_apply=add\n d = f32[2] all-reduce-done(a)\n"
                "c = (f32[2], f32[2]) collective-permute-start(d), source_target_pairs={{0,1}}\n"
                "ROOT r = f32[2] collective-permute-done(c)",
                {{1}, {2}}),
            (std::vector<Values>{{0, 0}, {2, 4}}));
}

TEST(Devices, IdsAndLoops) {
  const std::string text =
      "HloModule m, replica_count=2, num_partitions=2\n" + std::string(kAdd) +
      "body { s = (s32[], f32[]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
      " x = f32[] get-tuple-element(s), index=1\n one = s32[] constant(1)\n n = s32[] add(i, one)\n"
      " y = f32[] all-reduce(x), replica_groups={{0,1,2,3}}, channel_id=1, use_global_device_ids=true, "
      "to_apply=add\n ROOT t = (s32[], f32[]) tuple(n, y) }\n"
      "condition { s = (s32[], f32[]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
      " five = s32[] constant(5)\n ROOT c = pred[] compare(i, five), direction=LT }\n"
      "ENTRY e { zero = s32[] constant(0)\n r = u32[] replica-id()\n p = u32[] partition-id()\n"
      " ten = u32[] constant(10)\n rr = u32[] multiply(r, ten)\n id = u32[] add(rr, p)\n"
      " f = f32[] convert(id)\n s = (s32[], f32[]) tuple(zero, f)\n"
      " w = (s32[], f32[]) while(s), condition=condition, body=body\n"
      " ROOT out = f32[] get-tuple-element(w), index=1 }";
  const auto executable = Executable::compile(parse(text));
  const std::vector<std::vector<Argument>> nothing(4);
  for (const auto& results : executable->execute_on_devices(nothing))
    EXPECT_EQ(*reinterpret_cast<const float*>(results[0].bytes()), (0 + 1 + 10 + 11) * 256);
}

TEST(Devices, DivergenceIsAnErrorNotAHang) {
  const std::string text =
      "HloModule m, replica_count=2\n" + std::string(kAdd) +
      "meets { x = f32[] parameter(0)\n ROOT y = f32[] all-reduce(x), to_apply=add }\n"
      "passes { ROOT x = f32[] parameter(0) }\n"
      "ENTRY e { r = u32[] replica-id()\n zero = u32[] constant(0)\n first = pred[] compare(r, zero), "
      "direction=EQ\n f = f32[] constant(1)\n"
      " ROOT c = f32[] conditional(first, f, f), true_computation=meets, false_computation=passes }";
  const auto executable = Executable::compile(parse(text));
  const std::vector<std::vector<Argument>> nothing(2);
  try {
    executable->execute_on_devices(nothing);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("deadlock"), std::string::npos) << e.what();
  }
}

TEST(Devices, GroupsMustFitTheShapes) {
  EXPECT_THROW(
      run("replica_count=2", "p = f32[2] parameter(0)\n ROOT r = f32[6] all-gather(p), dimensions={0}",
          {{1, 2}, {3, 4}}),
      Error);
  EXPECT_THROW(run("replica_count=2", "p = f32[2] parameter(0)\n ROOT r = f32[2] all-reduce(p), to_apply=add",
                   {{1, 2}}),
               Error);
}

}  // namespace
}  // namespace armillary
