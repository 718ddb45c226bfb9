// Every rewrite rule is tried on random instances of its own pattern: both sides must evaluate to the same
// values.
#include <gtest/gtest.h>

#include "xla_core/hlo/text.h"
#include "xla_core/hlo/verify.h"
#include "xla_core/interp/interpreter.h"
#include "xla_core/passes/pass.h"
#include "xla_core/passes/testing/sampler.h"

namespace armillary {
namespace {

using testing::Rng;

constexpr int kAttempts = 30000, kWanted = 60;

bool is_valid(const Module& module) {
  try {
    verify(module);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// nullptr when the rule does not apply.
std::unique_ptr<Module> rewritten(const Module& module, const Rule& rule) {
  std::unique_ptr<Module> copy = module.clone();
  PassContext context;
  Instruction* root = copy->entry()->root();
  Instruction* with = apply_rule(rule, root, context);
  if (!with) return nullptr;
  root->replace_all_uses_with(with);
  return copy;
}

class RuleTest : public ::testing::TestWithParam<const Rule*> {};

TEST_P(RuleTest, both_sides_evaluate_to_the_same) {
  const Rule& rule = *GetParam();
  const bool reassociates = rule.name.starts_with(kReassociates);
  int fired = 0;
  for (uint64_t seed = 0; seed < kAttempts && fired < kWanted; ++seed) {
    Rng rng(seed);
    std::unique_ptr<Module> module = testing::Sampler(rng).sample(rule.from);
    if (!module || !is_valid(*module)) continue;
    std::unique_ptr<Module> after = rewritten(*module, rule);
    if (!after) continue;
    ++fired;
    ASSERT_NO_THROW(verify(*after)) << rule.name << " seed " << seed << "\n"
                                    << print(*module) << print(*after);
    std::vector<Literal> arguments = testing::arguments_for(rng, *module, reassociates);
    Literal want = evaluate(*module, arguments), got = evaluate(*after, arguments);
    std::string text;
    for (const Literal& a : arguments) text += to_string(a) + "\n";
    ASSERT_TRUE(testing::same_result(want, got)) << rule.name << " seed " << seed << "\n"
                                                 << print(*module) << print(*after) << text << "want "
                                                 << to_string(want) << "\ngot  " << to_string(got);
  }
  EXPECT_GE(fired, kWanted / 4) << rule.name << ": the sampler hardly ever finds an instance";
}

// Op-generic rules share a name; the op tells them apart.
std::string test_name(const ::testing::TestParamInfo<const Rule*>& info) {
  std::string name = fmt::format("{}_{}_{}", info.index, info.param->name, to_string(info.param->from.op));
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(all_rules, RuleTest, ::testing::ValuesIn(all_rules()), test_name);

}  // namespace
}  // namespace armillary
