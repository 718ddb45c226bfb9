// Whole pipelines on random programs: the interpreter must see no difference, and the program must not grow.
#include <gtest/gtest.h>

#include "xla_core/fusion/fusion.h"
#include "xla_core/hlo/text.h"
#include "xla_core/interp/interpreter.h"
#include "xla_core/passes/testing/programs.h"

namespace armillary {
namespace {

using testing::Rng;

constexpr std::string_view kPipeline =
    "inline-calls,dce,expand,fixpoint(simplify-tuples,simplify,fold-constants,simplify-loops,cse,dce),remove-"
    "barriers,simplify-tuples,dce,"
    "fusion,cse,dce";

void register_fusion() {
  static const PassRow rows[] = {{"fusion", "", fuse}};
  register_passes(rows);
}

void expect_same(uint64_t seed, int size, std::string_view pipeline) {
  register_fusion();
  Rng rng(seed);
  std::unique_ptr<Module> before = testing::random_program(rng, size);
  ASSERT_NO_THROW(verify(*before)) << "seed " << seed << print(*before);
  std::unique_ptr<Module> after = before->clone();
  PassContext context;
  context.verify_each = true;
  ASSERT_NO_THROW(run_pipeline(*after, pipeline, context)) << "seed " << seed << "\n"
                                                           << print(*before) << print(*after);
  ASSERT_NO_THROW(verify(*after)) << "seed " << seed << "\n" << print(*after);
  ASSERT_NO_THROW(verify(*parse(print(*after)))) << "seed " << seed;
  // Sums are exact on tame arguments; the few functions that are not see the same operands before and after.
  std::vector<Literal> arguments = testing::arguments_for(rng, *before, /*tame=*/true);
  Literal want = evaluate(*before, arguments), got = evaluate(*after, arguments);
  ASSERT_TRUE(testing::same_result(want, got, 64))
      << "seed " << seed << "\n"
      << print(*before) << print(*after) << to_string(want) << "\n"
      << to_string(got);
}

TEST(RandomPrograms, the_pipeline_changes_no_result) {
  for (uint64_t seed = 0; seed < 400; ++seed) expect_same(seed, 25, kPipeline);
}

TEST(RandomPrograms, fusion_alone_changes_no_result) {
  for (uint64_t seed = 1000; seed < 1300; ++seed) expect_same(seed, 40, "dce,fusion,dce");
}

TEST(RandomPrograms, larger_programs_too) {
  for (uint64_t seed = 2000; seed < 2030; ++seed) expect_same(seed, 200, kPipeline);
}

TEST(RandomPrograms, every_amount_of_fuel_gives_a_right_program) {
  register_fusion();
  Rng rng(7);
  std::unique_ptr<Module> before = testing::random_program(rng, 30);
  std::vector<Literal> arguments = testing::arguments_for(rng, *before, true);
  Literal want = evaluate(*before, arguments);
  for (int64_t fuel = 0; fuel < 60; ++fuel) {
    std::unique_ptr<Module> after = before->clone();
    PassContext context;
    context.verify_each = true;
    context.fuel.limit = fuel;
    ASSERT_NO_THROW(run_pipeline(*after, kPipeline, context)) << "fuel " << fuel << "\n" << print(*after);
    EXPECT_LE(context.fuel.used, fuel);
    ASSERT_TRUE(testing::same_result(want, evaluate(*after, arguments), 64)) << "fuel " << fuel;
  }
}

}  // namespace
}  // namespace armillary
