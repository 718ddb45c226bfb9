// Hiding collectives against all orders that there are.
#include "xla_core/schedule/overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "xla_core/hlo/text.h"
#include "xla_core/hlo/verify.h"
#include "xla_core/schedule/schedule.h"

namespace armillary {
namespace {

// tanh takes as long as it has elements, everything else nothing; collectives twice that.
double elements_as_seconds(const Instruction& i) {
  if (i.is(Op::tanh)) return static_cast<double>(i.shape().num_elements());
  if (i.is(Op::async_start)) return 2 * static_cast<double>(i.shape().tuple[1].num_elements());
  return 0;
}
const OverlapOptions kOptions{.seconds = elements_as_seconds};

const std::string kSum = "a { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }\n";

TEST(Overlap, a_collective_runs_beside_what_does_not_need_it) {
  const auto m = parse("HloModule m, num_partitions=2\n" + kSum + R"(
ENTRY e { x = f32[4] parameter(0)  u = f32[9] parameter(1)
  r = f32[4] all-reduce(x), replica_groups={{0,1}}, to_apply=a
  v = f32[9] tanh(u)  s = f32[4] tanh(r)
  ROOT t = (f32[4], f32[9]) tuple(s, v) })");
  minimise_memory(*m);
  ASSERT_TRUE(split_collectives(*m));
  const OverlapReport report = hide_latency(*m->entry(), kOptions);
  EXPECT_EQ(report.before, 8 + 9 + 4);
  EXPECT_EQ(report.after, 9 + 4);
  EXPECT_LE(report.lower_bound, report.after);
}

// The least over all orders that respect the operands.
double least_seconds(const Computation& c) {
  std::vector<Instruction*> rest = c.snapshot(), order;
  double least = 1e30;
  std::function<void()> extend = [&] {
    if (order.size() == rest.size()) least = std::min(least, seconds_of(order, kOptions));
    for (Instruction* i : rest) {
      const bool placed = std::find(order.begin(), order.end(), i) != order.end();
      const bool ready = std::all_of(i->operands().begin(), i->operands().end(), [&](const Instruction* o) {
        return std::find(order.begin(), order.end(), o) != order.end();
      });
      if (placed || !ready) continue;
      order.push_back(i);
      extend();
      order.pop_back();
    }
  };
  extend();
  return least;
}

// Parameters of random sizes, tanh and all-reduce over them, in random pairs.
std::string random_program(std::mt19937& random) {
  std::string text = "HloModule m, num_partitions=2\n" + kSum + "ENTRY e { p = f32[4] parameter(0)\n";
  std::vector<std::string> values = {"p"};
  for (int n = 0; n < 4; ++n) {
    const std::string from = values[random() % values.size()], name = "v" + std::to_string(n);
    const bool meets = random() % 2 == 0;
    text +=
        name + " = f32[4] " +
        (meets ? "all-reduce(" + from + "), replica_groups={{0,1}}, to_apply=a\n" : "tanh(" + from + ")\n");
    values.push_back(name);
  }
  std::string operands, shapes;
  for (size_t n = 1; n < values.size(); ++n)
    operands += (n > 1 ? ", " : "") + values[n], shapes += std::string(n > 1 ? ", " : "") + "f32[4]";
  return text + "ROOT t = (" + shapes + ") tuple(" + operands + ") }";
}

TEST(Overlap, small_programs_are_near_the_best_order_and_never_slower_than_before) {
  std::mt19937 random(1);
  double ours = 0, best = 0;
  for (int n = 0; n < 60; ++n) {
    const auto m = parse(random_program(random));
    minimise_memory(*m);
    split_collectives(*m);
    const OverlapReport report = hide_latency(*m->entry(), kOptions);
    verify(*m);
    EXPECT_LE(report.after, report.before);
    EXPECT_GE(report.after, report.lower_bound);
    ours += report.after;
    best += least_seconds(*m->entry());
  }
  EXPECT_LE(ours, 1.1 * best) << ours << " " << best;
}

TEST(Overlap, memory_is_not_spent_beyond_the_limit) {
  // Four gathers that could all be under way while the core is busy with w.
  std::string text = "HloModule m, num_partitions=2\nENTRY e { w = f32[64] parameter(0)\n";
  for (int n = 0; n < 4; ++n) {
    const std::string i = std::to_string(n);
    text += "p" + i + " = f32[8] parameter(" + std::to_string(n + 1) + ")\ng" + i +
            " = f32[16] all-gather(p" + i + "), replica_groups={{0,1}}, dimensions={0}\nt" + i +
            " = f32[16] tanh(g" + i + ")\n";
  }
  text += "ROOT t = (f32[16], f32[16], f32[16], f32[16]) tuple(t0, t1, t2, t3) }";
  const auto m = parse(text);
  minimise_memory(*m);
  split_collectives(*m);
  OverlapOptions options = kOptions;
  options.memory_limit = 1;
  const OverlapReport report = hide_latency(*m->entry(), options);
  EXPECT_LE(report.peak_after, report.peak_before);
}

}  // namespace
}  // namespace armillary
