// A partitioned program, run on its devices, against the same program on one device.
#include <gtest/gtest.h>

#include <cstring>

#include "xla_core/base/error.h"
#include "xla_core/client/client.h"
#include "xla_core/client/testing/partitioned.h"
#include "xla_core/hlo/text.h"
#include "xla_core/spmd/mesh.h"

namespace armillary {
namespace {

TEST(Partition, ElementwiseWorksOnTiles) {
  expect_same("", R"(ENTRY e {
    x = f32[4,6] parameter(0), sharding={devices=[2,2]<=[4]}
    y = f32[4,6] parameter(1), sharding={replicated}
    two = f32[] constant(2)
    b = f32[4,6] broadcast(two), dimensions={}
    s = f32[4,6] sine(x)
    m = f32[4,6] multiply(s, b)
    ROOT a = f32[4,6] add(m, y) })",
              4, {"{devices=[2,2]0,1,2,3}"});
}

TEST(Partition, DotTransposeReduceAndBroadcast) {
  expect_same("", R"(
  add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
  ENTRY e {
    x = f32[4,6] parameter(0), sharding={devices=[4,1]<=[4]}
    w = f32[6,8] parameter(1), sharding={devices=[1,4]<=[4]}
    d = f32[4,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    t = f32[8,4] transpose(d), dimensions={1,0}
    zero = f32[] constant(0)
    r = f32[4] reduce(d, zero), dimensions={1}, to_apply=add
    b = f32[3,4] broadcast(r), dimensions={1}
    q = f32[8] reduce(d, zero), dimensions={0}, to_apply=add
    ROOT all = (f32[8,4], f32[3,4], f32[8]) tuple(t, b, q) })",
              4, {"{devices=[1,4]0,1,2,3}", "{devices=[1,4]0,1,2,3}", "{replicated}"});
}

TEST(Partition, WhatIsSummedOverIsSummedInParts) {
  const std::string text = expect_same("", R"(
  add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
  max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }
  ENTRY e {
    x = f32[8,6] parameter(0), sharding={devices=[4,1]<=[4]}
    y = f32[8,5] parameter(1), sharding={devices=[4,1]<=[4]}
    w = f32[8,3] parameter(2)
    d = f32[6,5] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
    k = f32[6,3] dot(x, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}
    zero = f32[] constant(0)
    one = f32[] constant(1)
    r = f32[6] reduce(x, zero), dimensions={0}, to_apply=add
    m = f32[5] reduce(y, one), dimensions={0}, to_apply=max
    ROOT all = (f32[6,5], f32[6,3], f32[6], f32[5]) tuple(d, k, r, m) })",
                                       4, {"{replicated}", "{replicated}", "{replicated}", "{replicated}"});
  EXPECT_EQ(count_in(text, " all-gather("), 0) << text;
  EXPECT_EQ(count_in(text, " all-reduce("), 2) << text;  // of the three sums, and of the maximum
}

TEST(Partition, SumsThatDoNotBeginAtZeroSeeEverything) {
  const std::string text = expect_same("", R"(
  add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
  ENTRY e {
    x = f32[8,6] parameter(0), sharding={devices=[4,1]<=[4]}
    one = f32[] constant(1)
    ROOT r = f32[6] reduce(x, one), dimensions={0}, to_apply=add })",
                                       4, {"{replicated}"});
  EXPECT_EQ(count_in(text, " all-reduce("), 0) << text;
}

TEST(Partition, OperandsThatAreCutByDifferentAxesAreBothLeftSo) {
  const std::string text = expect_same("", R"(ENTRY e {
    x = f32[4,6] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
    v = f32[6,8] parameter(1), sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}
    w = f32[8,10] parameter(2), sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}
    h = f32[4,8] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    s = f32[4,8] sine(h)
    ROOT d = f32[4,10] dot(s, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} })",
                                       4, {"{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}"});
  EXPECT_EQ(count_in(text, " all-gather("), 0) << text;
  EXPECT_EQ(count_in(text, " all-reduce("), 1) << text;
  EXPECT_NE(text.find("f32[2,4]"), std::string::npos) << text;
}

TEST(Partition, WhatIsCutByOneAxisOnBothSidesIsPutTogetherOnOne) {
  const std::string text = expect_same("", R"(ENTRY e {
    x = f32[4,8] parameter(0), sharding={devices=[4,1]<=[4]}
    w = f32[8,6] parameter(1), sharding={devices=[4,1]<=[4]}
    ROOT d = f32[4,6] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} })",
                                       4, {"{devices=[4,1]0,1,2,3}"});
  EXPECT_EQ(count_in(text, " all-gather("), 1) << text;
}

TEST(Partition, WhatIsWholeBesideTilesStaysSo) {
  const std::string text = expect_same("", R"(ENTRY e {
    x = f32[4,8] parameter(0), sharding={devices=[4,1]<=[4]}
    w = f32[8,8] parameter(1), sharding={devices=[1,4]<=[4]}
    d = f32[4,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    i = f32[4,8] iota(), iota_dimension=1
    s = f32[4,8] sine(i)
    a = f32[4,8] add(s, d)
    ROOT e = f32[4,8] dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} })",
                                       4, {"{devices=[4,1]0,1,2,3}"});
  EXPECT_EQ(count_in(text, "computed_whole"), 0) << text;
}

TEST(Partition, SumsThatAreCutAtOnceAreScattered) {
  const std::string text = expect_same("", R"(ENTRY e {
    x = f32[8,4] parameter(0), sharding={devices=[4,1]<=[4]}
    y = f32[8,8] parameter(1), sharding={devices=[4,1]<=[4]}
    w = f32[8,4] parameter(2), sharding={devices=[4,1]<=[4]}
    d = f32[4,8] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
    t = f32[8,4] transpose(d), dimensions={1,0}
    ROOT s = f32[8,4] subtract(w, t) })",
                                       4, {"{devices=[4,1]0,1,2,3}"});
  EXPECT_EQ(count_in(text, " reduce-scatter("), 1) << text;
  EXPECT_EQ(count_in(text, " all-reduce("), 0) << text;
}

TEST(Partition, WhatIsComputedWholeIsNamed) {
  const std::string text = expect_same("", R"(
  less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }
  ENTRY e {
    x = f32[8] parameter(0), sharding={devices=[4]<=[4]}
    ROOT s = f32[8] sort(x), dimensions={0}, to_apply=less })",
                                       4, {"{replicated}"});
  EXPECT_EQ(count_in(text, "computed_whole=\"s\""), 1) << text;
}

TEST(Partition, ConvolutionsWorkOnTheirPicturesAndSumTheirGradients) {
  const std::string text = expect_same("", R"(ENTRY e {
    x = f32[8,5,5,2] parameter(0), sharding={devices=[4,1,1,1]<=[4]}
    w = f32[3,3,2,3] parameter(1)
    y = f32[8,3,3,3] convolution(x, w), window={size=3x3}, dim_labels=b01f_01io->b01f
    g = f32[3,3,2,3] convolution(x, y), window={size=3x3}, dim_labels=f01b_i01o->01bf
    ROOT all = (f32[8,3,3,3], f32[3,3,2,3]) tuple(y, g) })",
                                       4, {"{devices=[4,1,1,1]0,1,2,3}", "{replicated}"});
  EXPECT_EQ(count_in(text, " all-gather("), 0) << text;
  EXPECT_EQ(count_in(text, " all-reduce("), 1) << text;
}

TEST(Partition, BatchesOfADotStayTogether) {
  expect_same("", R"(ENTRY e {
    x = f32[4,2,6] parameter(0), sharding={devices=[2,1,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}
    w = f32[4,6,8] parameter(1)
    ROOT d = f32[4,2,8] dot(x, w), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1} })",
              4, {"{devices=[2,1,1,2]0,2,1,3 last_tile_dim_replicate}"});
}

TEST(Partition, WishedResults) {
  expect_same("", R"(ENTRY e {
    x = f32[4,8] parameter(0), sharding={devices=[2,2]<=[4]}
    n = f32[4,8] negate(x)
    r = f32[32] reshape(n)
    ROOT all = (f32[4,8], f32[32]) tuple(n, r), sharding={{replicated}, {devices=[4]3,2,1,0}} })",
              4, {"{replicated}", "{devices=[4]3,2,1,0}"});
}

constexpr const char* kMesh = R"(, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=2, "b"=2]>}})";

TEST(Partition, ConstraintsThatAreOpenAreNone) {
  expect_same(kMesh, R"(ENTRY e {
    x = f32[4,8] parameter(0), sharding={devices=[2,2]<=[4]}
    c = f32[4,8] custom-call(x), custom_call_target="Sharding", sharding={replicated}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{?}, {?}]>]>"}
    d = f32[4,8] custom-call(x), custom_call_target="Sharding", sharding={replicated}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{}, {}]>]>"}
    e = f32[4,8] custom-call(x), custom_call_target="Sharding", sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"b\"}, {}]>]>"}
    ROOT all = (f32[4,8], f32[4,8], f32[4,8]) tuple(c, d, e) })",
              4,
              {"{devices=[2,2]0,1,2,3}", "{replicated}", "{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}"});
}

// A manual region has no meaning on one device: compared with what it says.
TEST(Partition, ManualRegion) {
  auto module = parse(std::string("HloModule m, num_partitions=4") + kMesh + R"(
  add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
  body { p = f32[2,1] parameter(0)
    ROOT r = f32[2,1] all-reduce(p), channel_id=1, replica_groups={{0,2},{1,3}}, use_global_device_ids=true, to_apply=add }
  ENTRY e {
    x = f32[4,2] parameter(0), sharding={devices=[2,2]<=[4]}
    l = f32[2,1] custom-call(x), custom_call_target="xla.sdy.GlobalToLocalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"a\"}, {\"b\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\", \"b\"}>"}
    c = f32[2,1] call(l), to_apply=body, frontend_attributes={inlineable="false"}
    ROOT g = f32[2,2] custom-call(c), custom_call_target="xla.sdy.LocalToGlobalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.manual_axes="#sdy<manual_axes{\"a\", \"b\"}>",xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{}, {\"b\"}]>]>"} })");
  const auto executable = Executable::compile(std::move(module));
  std::vector<std::vector<Argument>> arguments;
  const Sharding cut = sharding_of(executable->module().entry()->parameter(0), 4);
  Literal x(Shape(DType::kF32, {4, 2}));
  for (int k = 0; k < 8; ++k) reinterpret_cast<float*>(x.bytes())[k] = static_cast<float>(k);
  for (int64_t d = 0; d < 4; ++d) arguments.push_back({{tile_of(x, cut, d), false}});
  const auto got = executable->execute_on_devices(arguments);
  EXPECT_EQ(to_string(result_shardings(executable->module())[0]),
            "{devices=[1,2,2]0,2,1,3 last_tile_dim_replicate}");
  for (int64_t d = 0; d < 4; ++d) {
    const auto* v = reinterpret_cast<const float*>(got[d][0].bytes());
    EXPECT_EQ(v[0], static_cast<float>(d % 2 + (4 + d % 2)));  // rows 0 and 2
    EXPECT_EQ(v[1], static_cast<float>(2 + d % 2 + (6 + d % 2)));
  }
}

// Devices along "b" hold summands of the argument, and of the second result.
TEST(Partition, SummandsAreAddedWhereTheWholeIsAsked) {
  auto module = parse(std::string("HloModule m, num_partitions=4") + kMesh + R"(
  ENTRY e {
    x = f32[2] parameter(0), sharding={devices=[2,2]<=[4] last_tile_dims={unreduced}}
    n = f32[2] negate(x)
    l = (f32[1], f32[1]) custom-call(x, n), custom_call_target="xla.sdy.GlobalToLocalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"a\"}], unreduced={\"b\"}>, <@mesh, [{\"a\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\", \"b\"}>"}
    s = f32[1] get-tuple-element(l), index=0
    w = f32[1] get-tuple-element(l), index=1
    g = (f32[2], f32[2]) custom-call(w, s), custom_call_target="xla.sdy.LocalToGlobalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.manual_axes="#sdy<manual_axes{\"a\", \"b\"}>",xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"a\"}]>, <@mesh, [{\"a\"}], unreduced={\"b\"}>]>"}
    p = f32[2] get-tuple-element(g), index=0
    q = f32[2] get-tuple-element(g), index=1
    ROOT r = (f32[2], f32[2]) tuple(p, q) })");
  const auto executable = Executable::compile(std::move(module));
  EXPECT_EQ(
      executable->module().result_sharding,
      "{{devices=[2,2]0,1,2,3 last_tile_dim_replicate}, {devices=[2,2]0,1,2,3 last_tile_dims={unreduced}}}");
  std::vector<std::vector<Argument>> arguments;
  for (float v : {1.F, 10.F, 2.F, 20.F}) {
    Literal x(Shape(DType::kF32, {1}));
    *reinterpret_cast<float*>(x.bytes()) = v;
    arguments.push_back({{x, false}});
  }
  const auto got = executable->execute_on_devices(arguments);
  const float whole[] = {-11, -11, -22, -22}, summand[] = {1, 10, 2, 20};
  for (int64_t d = 0; d < 4; ++d) {
    EXPECT_EQ(*reinterpret_cast<const float*>(got[d][0].bytes()), whole[d]);
    EXPECT_EQ(*reinterpret_cast<const float*>(got[d][1].bytes()), summand[d]);
  }
}

TEST(Partition, ParametersOfLoopsMayBeAnnotated) {
  expect_same("", R"(
  cond {
    c = (s32[], f32[4,6]) parameter(0), sharding={{replicated}, {devices=[4,1]<=[4]}}
    k = s32[] get-tuple-element(c), index=0
    n = s32[] constant(3)
    ROOT lt = pred[] compare(k, n), direction=LT }
  body {
    b = (s32[], f32[4,6]) parameter(0), sharding={{replicated}, {devices=[4,1]<=[4]}}
    i = s32[] get-tuple-element(b), index=0
    one = s32[] constant(1)
    next = s32[] add(i, one)
    v = f32[4,6] get-tuple-element(b), index=1
    s = f32[4,6] sine(v)
    ROOT t = (s32[], f32[4,6]) tuple(next, s) }
  ENTRY e {
    x = f32[4,6] parameter(0), sharding={devices=[4,1]<=[4]}
    zero = s32[] constant(0)
    init = (s32[], f32[4,6]) tuple(zero, x)
    w = (s32[], f32[4,6]) while(init), condition=cond, body=body
    ROOT y = f32[4,6] get-tuple-element(w), index=1, sharding={replicated} })",
              4, {"{replicated}"});
}

// What a device's program holds, and what it does not.
std::string partitioned(const std::string& body, int64_t devices) {
  return Executable::compile(parse("HloModule m, num_partitions=" + std::to_string(devices) + "\n" + body))
      ->as_text();
}

constexpr const char* kCounters = R"(
  cond {
    c = (s32[], f32[4,6], f32[4,6], f32[3]) parameter(0)
    k = s32[] get-tuple-element(c), index=0
    n = s32[] constant(50)
    ROOT lt = pred[] compare(k, n), direction=LT }
  body {
    b = (s32[], f32[4,6], f32[4,6], f32[3]) parameter(0)
    i = s32[] get-tuple-element(b), index=0
    one = s32[] constant(1)
    next = s32[] add(i, one)
    x = f32[4,6] get-tuple-element(b), index=1
    y = f32[4,6] get-tuple-element(b), index=2
    r = f32[3] get-tuple-element(b), index=3
    r0 = f32[1] slice(r), slice={[1:2]}
    r1 = f32[] reshape(r0)
    rr = f32[4,6] broadcast(r1), dimensions={}
    z = f32[4,6] add(x, y)
    s = f32[4,6] sine(z)
    t = f32[4,6] multiply(s, rr)
    ROOT all = (s32[], f32[4,6], f32[4,6], f32[3]) tuple(next, y, t, r) }
  ENTRY e {
    p = f32[4,6] parameter(0), sharding={devices=[2,3]<=[6]}
    q = f32[3] parameter(1), sharding={replicated}
    count = f32[2,2,6] iota(), iota_dimension=0
    x = f32[4,6] reshape(count)
    y = f32[4,6] iota(), iota_dimension=1
    zero = s32[] constant(0)
    init = (s32[], f32[4,6], f32[4,6], f32[3]) tuple(zero, x, y, q)
    w = (s32[], f32[4,6], f32[4,6], f32[3]) while(init), condition=cond, body=body
    v = f32[4,6] get-tuple-element(w), index=2
    ROOT a = f32[4,6] add(p, v) })";

TEST(Partition, LoopsOverCountersMakeTilesAlone) {
  expect_same("", kCounters, 6, {"{devices=[2,3]0,1,2,3,4,5}"});
  const std::string text = partitioned(kCounters, 6);
  EXPECT_NE(text.find("f32[2,2]"), std::string::npos);
  for (const char* whole : {"f32[4,6]", "f32[2,2,6]"}) EXPECT_EQ(text.find(whole), std::string::npos) << text;
  EXPECT_EQ(text.find("all-gather"), std::string::npos) << text;
}

TEST(Partition, WhatIsCutIsMadeOfTiles) {
  const std::string body = R"(
  add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
  ENTRY e {
    x = f32[8,5] parameter(0)
    w = f32[5,12] parameter(1)
    v = f32[8,12] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    t = f32[12,8] transpose(v), dimensions={1,0}
    s = f32[12,8] sine(t)
    u = f32[12,4] slice(s), slice={[0:12], [2:6]}
    zero = f32[] constant(0)
    g = f32[12,7] pad(u, zero), padding=0_0x1_2
    h = f32[12,11] concatenate(g, u), dimensions={1}
    r = f32[12] reduce(h, zero), dimensions={1}, to_apply=add
    o = f32[3,4] reshape(r)
    m = f32[2,3,4] broadcast(o), dimensions={1,2}
    k = f32[2,3,4] reverse(m), dimensions={0,2}
    i = s32[] constant(1)
    j = s32[] constant(0)
    d = f32[1,3,2] dynamic-slice(k, i, j, i), dynamic_slice_sizes={1,3,2}
    ROOT f = f32[2,3,4] dynamic-update-slice(k, d, j, j, j), sharding={devices=[1,3,1]<=[3]} })";
  expect_same("", body, 3, {"{devices=[1,3,1]0,1,2}"});
  const std::string text = partitioned(body, 3);
  for (const char* whole :
       {"[8,12]", "[12,8]", "[12,4]", "[12,7]", "[12,11]", "f32[12]", "[3,4]", "[2,3,4]", "all-"})
    EXPECT_EQ(text.find(whole), std::string::npos) << whole << " in\n" << text;
}

// Inner dimensions of a reshape have no contiguous tiles; a reduction over a cut dimension needs all of it.
TEST(Partition, WhereTilesAreNotEnoughTheWholeIsMade) {
  expect_same("", R"(
  add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
  ENTRY e {
    x = f32[6,4] parameter(0), sharding={devices=[1,2]<=[2]}
    r = f32[24] reshape(x)
    s = f32[24] sine(r)
    b = f32[4,6] reshape(s)
    zero = f32[] constant(0)
    q = f32[6] reduce(b, zero), dimensions={0}, to_apply=add
    v = f32[6] reverse(q), dimensions={0}
    i = f32[4,6] iota(), iota_dimension=0
    j = f32[4,6] iota(), iota_dimension=1
    k = f32[4,6] multiply(i, j)
    y = f32[4,6] add(k, b)
    z = f32[6] reduce(k, zero), dimensions={0}, to_apply=add
    ROOT all = (f32[6], f32[24], f32[4,6], f32[6]) tuple(v, s, y, z), sharding={{devices=[2]<=[2]}, {devices=[2]1,0}, {devices=[1,2]<=[2]}, {devices=[2]<=[2]}} })",
              2, {"{devices=[2]0,1}", "{devices=[2]1,0}", "{devices=[1,2]0,1}", "{devices=[2]0,1}"});
}

// Only along the dimension that the op must see whole are tiles put together.
TEST(Partition, DimensionsThatStayCut) {
  const std::string body = R"(ENTRY e {
    x = f32[4,8,6] parameter(0), sharding={devices=[2,2,2]<=[8]}
    w = f32[4,6,2] parameter(1)
    s = f32[4,1,6] slice(x), slice={[0:4], [7:8], [0:6]}
    r = f32[4,6] reshape(s)
    d = f32[4,8,2] dot(x, w), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
    v = f32[4,8,6] reverse(x), dimensions={1}
    ROOT all = (f32[4,6], f32[4,8,2], f32[4,8,6]) tuple(r, d, v) })";
  expect_same(
      "", body, 8,
      {"{devices=[2,2,2]0,2,1,3,4,6,5,7 last_tile_dim_replicate}",
       "{devices=[2,2,1,2]0,1,2,3,4,5,6,7 last_tile_dim_replicate}", "{devices=[2,2,2]0,1,2,3,4,5,6,7}"});
  EXPECT_EQ(partitioned(body, 8).find("4,8,6]"), std::string::npos);
}

TEST(Partition, WhatOnlyChangesPlacesStaysCut) {
  expect_same("", R"(ENTRY e {
    x = f32[8] parameter(0), sharding={devices=[4]<=[4]}
    r = f32[8] reverse(x), dimensions={0}
    ROOT n = f32[8] negate(r) })",
              4, {"{devices=[4]0,1,2,3}"});
}

TEST(Partition, ShardingsThatDoNotFitAreRefused) {
  for (const char* sharding :
       {"{devices=[3]0,1,2}", "{devices=[2,2]<=[4]}", "{devices=[4]0,0,1,2}", "{nonsense}"})
    EXPECT_THROW(Executable::compile(parse(std::string("HloModule m, num_partitions=4\nENTRY e { p = f32[6] "
                                                       "parameter(0), sharding=") +
                                           sharding + "\n ROOT r = f32[6] negate(p) }")),
                 Error)
        << sharding;
}

}  // namespace
}  // namespace armillary
