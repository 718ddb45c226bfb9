#include "xla_core/analysis/cost.h"

#include <gtest/gtest.h>

#include "xla_core/analysis/trip_count.h"
#include "xla_core/hlo/text.h"

namespace armillary {
namespace {

Cost cost_of_text(const std::string& text) { return cost_of(*parse("HloModule m\n" + text)); }

TEST(Cost, a_dot_is_two_flops_a_term) {
  Cost c = cost_of_text(R"(ENTRY main {
    x = f32[8,32]{1,0} parameter(0)
    y = f32[32,16]{1,0} parameter(1)
    ROOT d = f32[8,16]{1,0} dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  })");
  EXPECT_EQ(c.flops, 2.0 * 8 * 32 * 16);
  EXPECT_EQ(c.bytes, 4.0 * (8 * 32 + 32 * 16 + 8 * 16));
}

TEST(Cost, transcendentals_are_counted_apart) {
  Cost c = cost_of_text(R"(ENTRY main {
    x = f32[10]{0} parameter(0)
    e = f32[10]{0} exponential(x)
    ROOT s = f32[10]{0} add(e, x)
  })");
  EXPECT_EQ(c.flops, 10);
  EXPECT_EQ(c.transcendentals, 10);
}

TEST(Cost, a_fusion_moves_only_its_operands_and_results) {
  Cost c = cost_of_text(R"(
  f {
    p = f32[1000]{0} parameter(0)
    n = f32[1000]{0} negate(p)
    s = f32[10]{0} slice(p), slice={[0:10]}
    t = f32[10]{0} slice(n), slice={[5:15]}
    ROOT r = f32[10]{0} add(s, t)
  }
  ENTRY main {
    x = f32[1000]{0} parameter(0)
    ROOT r = f32[10]{0} fusion(x), kind=kLoop, calls=f
  })");
  EXPECT_EQ(c.flops, 1010);
  EXPECT_EQ(c.bytes, 4.0 * (1000 + 10));
}

const char kLoop[] = R"(
  cond {
    p = (s32[], f32[4]) parameter(0)
    i = s32[] get-tuple-element(p), index=0
    n = s32[] constant(%d)
    ROOT c = pred[] compare(i, n), direction=%s
  }
  body {
    q = (s32[], f32[4]) parameter(0)
    i = s32[] get-tuple-element(q), index=0
    x = f32[4]{0} get-tuple-element(q), index=1
    k = s32[] constant(%d)
    j = s32[] add(i, k)
    y = f32[4]{0} multiply(x, x)
    ROOT t = (s32[], f32[4]) tuple(j, y)
  }
  ENTRY main {
    z = s32[] constant(%d)
    x = f32[4]{0} parameter(0)
    s = (s32[], f32[4]) tuple(z, x)
    w = (s32[], f32[4]) while(s), condition=cond, body=body
    ROOT r = f32[4]{0} get-tuple-element(w), index=1
  })";

std::string loop(int bound, const char* direction, int step, int start) {
  char text[2048];
  std::snprintf(text, sizeof text, kLoop, bound, direction, step, start);
  return text;
}

int64_t trips(const std::string& text) {
  auto module = parse("HloModule m\n" + text);
  for (const Instruction* i : module->entry()->instructions())
    if (i->is(Op::while_)) {
      auto induction = induction_of(*i);
      return induction ? induction->trips : -1;
    }
  return -2;
}

TEST(TripCount, counts_what_the_loop_would) {
  EXPECT_EQ(trips(loop(10, "LT", 1, 0)), 10);
  EXPECT_EQ(trips(loop(10, "LT", 3, 0)), 4);
  EXPECT_EQ(trips(loop(10, "LE", 5, 0)), 3);
  EXPECT_EQ(trips(loop(0, "GT", -2, 7)), 4);
  EXPECT_EQ(trips(loop(0, "GE", -1, 3)), 4);
  EXPECT_EQ(trips(loop(6, "NE", 2, 0)), 3);
  EXPECT_EQ(trips(loop(5, "LT", 1, 5)), 0);
}

TEST(TripCount, refuses_loops_that_wrap_or_never_end) {
  EXPECT_EQ(trips(loop(5, "NE", 2, 0)), -1);
  EXPECT_EQ(trips(loop(10, "LT", -1, 0)), -1);
  EXPECT_EQ(trips(loop(10, "LT", 0, 0)), -1);
  EXPECT_EQ(trips(loop(2147483647, "LE", 1, 0)), -1);  // the counter never exceeds the bound
  EXPECT_EQ(trips(loop(10, "EQ", 1, 0)), -1);
}

TEST(Cost, loops_count_as_often_as_they_run) {
  Cost c = cost_of_text(loop(10, "LT", 1, 0));
  EXPECT_EQ(c.flops, 10 * (4 + 2));  // four products, an addition and a comparison a round
  EXPECT_EQ(c.unknown_loops, 0);
  EXPECT_EQ(cost_of_text(loop(5, "NE", 2, 0)).unknown_loops, 1);
}

}  // namespace
}  // namespace armillary
