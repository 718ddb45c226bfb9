#include "xla_core/backends/tpu/lower.h"

#include <gtest/gtest.h>

#include "xla_core/backends/tpu/product.h"
#include "xla_core/backends/tpu/tiled.h"
#include "xla_core/backends/tpu/vector_cost.h"
#include "xla_core/base/error.h"
#include "xla_core/hlo/text.h"

namespace armillary::tpu {
namespace {

Machine v5e() { return {.chip = sim::find_chip("v5e")}; }

const Instruction& root(const Module& m) { return *m.entry()->root(); }

Commands commands_of(const Module& m) { return Lowering(*new Machine(v5e()), Places{}).lower(*m.entry()); }

double seconds(const std::string& text) {
  const auto m = parse(text);
  double total = 0;
  for (const sim::Command& c : commands_of(*m)) total += sim::estimate_seconds(c, v5e().chip);
  return total;
}

TEST(Tiled, minor_dimensions_fill_whole_tiles) {
  EXPECT_EQ(tiled_bytes(Shape(DType::kF32, {8, 128})), 8 * 128 * 4);
  EXPECT_EQ(tiled_bytes(Shape(DType::kF32, {9, 129})), 16 * 256 * 4);
  EXPECT_EQ(tiled_bytes(Shape(DType::kBF16, {16, 128})), 16 * 128 * 2);
  EXPECT_EQ(tiled_bytes(Shape(DType::kPred, {32, 128})), 32 * 128);
}

TEST(Tiled, a_narrow_last_dimension_is_not_the_minor_one) {
  EXPECT_EQ(tiled_bytes(Shape(DType::kF32, {4096, 1})), 4096 * 4);
  EXPECT_EQ(tiled_bytes(Shape(DType::kF32, {8192, 128, 2})), 8192 * 128 * 2 * 4);
}

TEST(Tiled, an_array_that_overflows_is_refused) {
  EXPECT_THROW(tiled_bytes(Shape(DType::kF32, {int64_t{1} << 31, int64_t{1} << 30})), Error);
}

TEST(VectorCost, an_elementwise_op_costs_its_recipe) {
  const auto m = parse("HloModule m\nENTRY e { x = f32[8] parameter(0) ROOT y = f32[8] add(x, x) }");
  EXPECT_EQ(vector_cost(root(*m))[static_cast<size_t>(sim::VectorOp::kArithmetic)], 1);
}

TEST(VectorCost, wide_types_are_worked_on_in_parts) {
  const auto narrow = parse("HloModule m\nENTRY e { x = s32[8] parameter(0) ROOT y = s32[8] add(x, x) }");
  const auto wide = parse("HloModule m\nENTRY e { x = s64[8] parameter(0) ROOT y = s64[8] add(x, x) }");
  const size_t integer = static_cast<size_t>(sim::VectorOp::kInteger);
  EXPECT_GT(vector_cost(root(*wide))[integer], vector_cost(root(*narrow))[integer]);
}

TEST(BodyWork, a_slice_of_a_product_costs_the_slice) {
  const auto m = parse(R"(HloModule m
f { p = f32[1024,1024] parameter(0)  n = f32[1024,1024] exponential(p)  ROOT s = f32[8,1024] slice(n), slice={[0:8], [0:1024]} }
ENTRY e { x = f32[1024,1024] parameter(0) ROOT y = f32[8,1024] fusion(x), kind=kLoop, calls=f })");
  const BodyWork work = body_work(root(*m));
  EXPECT_EQ(work.read[0], 8 * 1024 * 4);
  EXPECT_EQ(work.written[0], 8 * 1024 * 4);
  EXPECT_EQ(work.vector[static_cast<size_t>(sim::VectorOp::kTranscendental)], 8 * 1024);
}

TEST(BodyWork, an_update_in_place_moves_the_update) {
  const auto m = parse(R"(HloModule m
ENTRY e { x = f32[64,1024] parameter(0)  u = f32[1,1024] parameter(1)  i = s32[] parameter(2)
  ROOT y = f32[64,1024] dynamic-update-slice(x, u, i, i) })");
  const BodyWork work = body_work(root(*m));
  EXPECT_EQ(work.read[0], 0);
  EXPECT_EQ(work.written[0], 1024 * 4);
}

TEST(Product, batch_and_contracting_dimensions_are_told_apart) {
  const auto m = parse(R"(HloModule m
ENTRY e { x = bf16[4,32,64] parameter(0)  y = bf16[4,64,16] parameter(1)
  ROOT d = f32[4,32,16] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1} })");
  const Product p = product_of(root(*m));
  EXPECT_EQ(std::vector<int64_t>({p.m, p.n, p.k, p.batch, p.passes}),
            std::vector<int64_t>({32, 16, 64, 4, 1}));
  EXPECT_EQ(p.flops, 2.0 * 4 * 32 * 16 * 64);
}

std::string dot_of(int64_t n, const std::string& precision = "default") {
  const std::string a = fmt::format("f32[{},{}]", n, n);
  return fmt::format(
      "HloModule m\nENTRY e {{ x = {0} parameter(0)  y = {0} parameter(1)  ROOT d = {0} dot(x, y), "
      "lhs_contracting_dims={{1}},"
      " rhs_contracting_dims={{0}}, operand_precision={{{1},{1}}} }}",
      a, precision);
}

TEST(Lower, precision_costs_passes) {
  const double once = seconds(dot_of(4096)), thrice = seconds(dot_of(4096, "high")),
               six = seconds(dot_of(4096, "highest"));
  EXPECT_NEAR(thrice / once, 3, 0.2);
  EXPECT_NEAR(six / once, 6, 0.4);
}

TEST(Lower, time_grows_with_size) {
  double before = 0;
  for (int64_t n : {64, 128, 129, 256, 512, 1000, 1024, 2048}) {
    const double now = seconds(dot_of(n));
    EXPECT_GE(now, before * 0.999) << n;
    before = now;
  }
}

TEST(Lower, a_loop_runs_as_often_as_its_counter_says) {
  const std::string text = R"(HloModule m
c {{ s = (s32[], f32[1024]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant({})
  ROOT r = pred[] compare(i, n), direction=LT }}
b {{ s = (s32[], f32[1024]) parameter(0)  i = s32[] get-tuple-element(s), index=0  one = s32[] constant(1)
  j = s32[] add(i, one)  x = f32[1024] get-tuple-element(s), index=1  y = f32[1024] tanh(x)
  ROOT t = (s32[], f32[1024]) tuple(j, y) }}
ENTRY e {{ z = s32[] constant(0)  x = f32[1024] parameter(0)  t = (s32[], f32[1024]) tuple(z, x)
  ROOT w = (s32[], f32[1024]) while(t), condition=c, body=b }})";
  const auto m = parse(fmt::format(fmt::runtime(text), 7));
  const Commands commands = commands_of(*m);
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(std::get<sim::Loop>(commands[0].what).trips, 7);
}

TEST(Lower, a_counter_that_was_fused_with_others_still_counts) {
  const auto m = parse(R"(HloModule m
f { i = s32[] parameter(0)  one = s32[] constant(1)  j = s32[] add(i, one)  k = s32[] multiply(i, i)
  ROOT t = (s32[], s32[]) tuple(k, j) }
c { s = (s32[], s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT }
b { s = (s32[], s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  g = (s32[], s32[]) fusion(i), kind=kLoop, calls=f
  k = s32[] get-tuple-element(g), index=0  j = s32[] get-tuple-element(g), index=1
  ROOT t = (s32[], s32[]) tuple(j, k) }
ENTRY e { z = s32[] constant(0)  t = (s32[], s32[]) tuple(z, z)
  ROOT w = (s32[], s32[]) while(t), condition=c, body=b })");
  EXPECT_EQ(std::get<sim::Loop>(commands_of(*m).at(0).what).trips, 5);
}

TEST(Lower, a_collective_is_a_start_and_a_wait) {
  const auto m = parse(R"(HloModule m, num_partitions=4
a { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }
ENTRY e { x = f32[1024] parameter(0)
  ROOT r = f32[1024] all-reduce(x), replica_groups={{0,1},{2,3}}, channel_id=1, use_global_device_ids=true, to_apply=a })");
  const Commands commands = commands_of(*m);
  ASSERT_EQ(commands.size(), 2u);
  const auto& start = std::get<sim::CollectiveStart>(commands[0].what);
  EXPECT_EQ(start.bytes, 4096);
  EXPECT_EQ(*start.groups, (sim::DeviceGroups{{0, 1}, {2, 3}}));
  EXPECT_EQ(std::get<sim::Wait>(commands[1].what).handle, start.handle);
}

TEST(Lower, a_result_that_does_not_fit_its_group_is_refused) {
  const auto m = parse(R"(HloModule m, num_partitions=4
ENTRY e { x = f32[1024] parameter(0)
  ROOT r = f32[2048] all-gather(x), replica_groups={{0,1,2,3}}, channel_id=1, use_global_device_ids=true, dimensions={0} })");
  EXPECT_THROW(commands_of(*m), Error);
}

TEST(Lower, what_has_no_fast_path_is_slow_and_says_so) {
  const auto m = parse(R"(HloModule m
ENTRY e { x = f32[64,64] parameter(0)  ROOT r = f32[64,64] custom-call(x), custom_call_target="mystery" })");
  const Machine machine = v5e();
  Lowering lowering(machine, Places{});
  EXPECT_TRUE(std::holds_alternative<sim::Serial>(lowering.lower(*m->entry()).at(0).what));
  EXPECT_EQ(lowering.notes().size(), 1u);
}

}  // namespace
}  // namespace armillary::tpu
