#include "xla_core/backends/tpu/chain.h"

#include <gtest/gtest.h>

#include "xla_core/hlo/text.h"

namespace armillary::tpu {
namespace {

const Machine& v6e() {
  static const Machine machine{.chip = sim::find_chip("v6e")};
  return machine;
}

struct Lowerings {
  Commands together;
  double seconds = 0, apart = 0;
};

Lowerings lower(const std::string& body) {
  const auto m = parse(R"(HloModule m
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] maximum(a, b) }
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY e {)" + body + "}");
  Lowering lowering(v6e(), Places{});
  Lowerings out{.together = lowering.lower(*m->entry())};
  auto add = [](double& sum, const Commands& commands) {
    for (const sim::Command& c : commands) sum += sim::estimate_seconds(c, v6e().chip);
  };
  add(out.seconds, out.together);
  for (const Instruction* i : m->entry()->instructions()) add(out.apart, lowering.lower(*i));
  return out;
}

const sim::FusedLoop& only_loop(const Lowerings& l) {
  return std::get<sim::FusedLoop>(l.together.at(0).what);
}

// Scores, softmax, values: 2048 queries of one head against as many keys.
const std::string kAttention = R"(
  q = bf16[2048,128] parameter(0)  k = bf16[2048,128] parameter(1)  v = bf16[2048,128] parameter(2)
  s = f32[2048,2048] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  low = f32[] constant(-1e30)  zero = f32[] constant(0)
  top = f32[2048] reduce(s, low), dimensions={1}, to_apply=max
  tops = f32[2048,2048] broadcast(top), dimensions={0}
  e = f32[2048,2048] subtract(s, tops)
  p = f32[2048,2048] exponential(e)
  total = f32[2048] reduce(p, zero), dimensions={1}, to_apply=add
  b = bf16[2048,2048] convert(p)
)";

TEST(Chain, attention_is_one_loop_whose_scores_stay_in_vmem) {
  const Lowerings l = lower(kAttention + R"(
    o = f32[2048,128] dot(b, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    totals = f32[2048,128] broadcast(total), dimensions={0}
    ROOT y = f32[2048,128] divide(o, totals))");
  ASSERT_EQ(l.together.size(), 1u);
  const sim::FusedLoop& loop = only_loop(l);
  EXPECT_EQ(loop.tile.matrix.size(), 2u);
  EXPECT_GT(loop.tiles, 1);
  EXPECT_EQ(loop.stages, 4);  // scores, softmax, values, division
  EXPECT_LE(loop.vmem_bytes, vmem_bytes(v6e().chip));
  EXPECT_LT(l.seconds, 0.6 * l.apart);
  // Queries come piece by piece; keys and values are there from the beginning.
  EXPECT_NEAR(static_cast<double>(loop.prologue_bytes), 2 * 2048 * 128 * 2, 4096);
  EXPECT_EQ(loop.tiles * loop.tile.bytes_in, 2048 * 128 * 2);
  EXPECT_EQ(loop.tiles * loop.tile.bytes_out, 2048 * 128 * 4);
  EXPECT_EQ(l.together[0].label.flops, 2 * 2.0 * 2048 * 2048 * 128);
  EXPECT_EQ(l.together[0].label.name, "s to y");
}

TEST(Chain, what_is_summed_over_the_rows_leaves_at_the_end) {
  const Lowerings l = lower(kAttention + R"(
    ROOT d = f32[2048,128] dot(b, v), lhs_contracting_dims={0}, rhs_contracting_dims={0})");
  ASSERT_EQ(l.together.size(), 1u);
  EXPECT_EQ(only_loop(l).epilogue_bytes, 2048 * 128 * 4);
  EXPECT_EQ(only_loop(l).tile.bytes_out, 0);
  EXPECT_EQ(only_loop(l).tile.matrix.back().k, 2048 / only_loop(l).tiles);
}

TEST(Chain, a_sum_over_the_rows_is_waited_for) {
  const Lowerings l = lower(kAttention + R"(
    d = f32[2048,128] dot(b, v), lhs_contracting_dims={0}, rhs_contracting_dims={0}
    ROOT t = f32[2048,128] tanh(d))");
  ASSERT_EQ(l.together.size(), 2u);
  EXPECT_EQ(l.together[1].label.name, "t");
}

// Through instructions that cost nothing, too.
TEST(Chain, a_scalar_made_of_a_sum_is_waited_for) {
  const Lowerings l = lower(kAttention + R"(
    all = f32[] reduce(p, zero), dimensions={0,1}, to_apply=add
    two = f32[] add(all, all)
    many = f32[2048,2048] broadcast(two), dimensions={}
    ROOT y = f32[2048,2048] multiply(p, many))");
  EXPECT_GE(l.together.size(), 2u);
  for (const sim::Command& c : l.together) EXPECT_EQ(c.label.name.find("to y"), std::string::npos);
}

TEST(Chain, a_row_that_needs_all_rows_begins_another_loop) {
  const Lowerings l = lower(kAttention + R"(
    turned = bf16[2048,2048] transpose(b), dimensions={1,0}
    ROOT o = f32[2048,128] dot(turned, v), lhs_contracting_dims={1}, rhs_contracting_dims={0})");
  EXPECT_GE(l.together.size(), 2u);
}

TEST(Chain, without_a_product_all_stays_as_it_is) {
  const Lowerings l = lower(R"(
    x = f32[4096,4096] parameter(0)  zero = f32[] constant(0)
    total = f32[4096] reduce(x, zero), dimensions={1}, to_apply=add
    totals = f32[4096,4096] broadcast(total), dimensions={0}
    ROOT y = f32[4096,4096] divide(x, totals))");
  EXPECT_EQ(l.seconds, l.apart);
}

TEST(Chain, products_that_do_not_depend_on_each_other_stay_apart) {
  const Lowerings l = lower(R"(
    x = bf16[2048,128] parameter(0)  a = bf16[128,2048] parameter(1)  b = bf16[128,2048] parameter(2)
    l = f32[2048,2048] dot(x, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    r = f32[2048,2048] dot(x, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ROOT t = (f32[2048,2048], f32[2048,2048]) tuple(l, r))");
  EXPECT_EQ(l.together.size(), 2u);
}

TEST(Chain, weights_that_do_not_fit_vmem_keep_layers_apart) {
  const Lowerings l = lower(R"(
    x = bf16[8192,8192] parameter(0)  a = bf16[8192,28672] parameter(1)  b = bf16[28672,8192] parameter(2)
    h = bf16[8192,28672] dot(x, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    t = bf16[8192,28672] tanh(h)
    ROOT y = bf16[8192,8192] dot(t, b), lhs_contracting_dims={1}, rhs_contracting_dims={0})");
  EXPECT_EQ(l.together.size(), 3u);
}

}  // namespace
}  // namespace armillary::tpu
