// Applies the rewrite rules (rules_*.cc) until none fires.
#include <algorithm>
#include <array>

#include "xla_core/passes/match.h"
#include "xla_core/passes/passes.h"

namespace armillary {
namespace {

constexpr int kMaxChain = 32;  // rewrites of one instruction in a row: a cycle of rules would end here

using RulesByOp = std::array<std::vector<const Rule*>, 256>;

const RulesByOp& rules_by_op() {
  static const RulesByOp table = [] {
    RulesByOp rules;
    for (const Rule* rule : all_rules()) rules[static_cast<size_t>(rule->from.op)].push_back(rule);
    return rules;
  }();
  return table;
}

void check_shape(const Rule& rule, const Instruction& root, const Instruction& with) {
  if (!with.shape().compatible(root.shape()))
    throw internal_error("rule {}: {} has shape {}, its replacement {}", rule.name, root.place(),
                         to_string(root.shape()), to_string(with.shape()));
}

}  // namespace

// The replacement when the rule applies; the caller puts it in place.
Instruction* apply_rule(const Rule& rule, Instruction* root, const PassContext& context) {
  Match match(root);
  if (!match.try_bind(rule.from, root) || (rule.guard && !rule.guard(match)) || !context.spend(root))
    return nullptr;
  Instruction* with = rule.to.make ? rule.to.make(match) : match.build(rule.to.pat);
  if (!with) {
    --context.fuel.used;
    return nullptr;
  }
  check_shape(rule, *root, *with);
  return with;
}

namespace {

// Rules reason about sizes, and a dynamic one is only a bound.
bool sizes_known(const Instruction* i) {
  auto known = [](const Instruction* x) { return x->shape().dynamic.empty(); };
  return known(i) && std::all_of(i->operands().begin(), i->operands().end(), known);
}

Instruction* rewrite_once(Instruction* i, const PassContext& context) {
  if (!sizes_known(i)) return nullptr;
  for (const Rule* rule : rules_by_op()[static_cast<size_t>(i->op())])
    if (Instruction* with = apply_rule(*rule, i, context)) return with;
  return nullptr;
}

bool rewrite(Instruction* i, const PassContext& context) {
  bool changed = false;
  for (int n = 0; n < kMaxChain; ++n) {
    bool used = !i->users().empty() || i->is_root();
    if (!used || !i->control_predecessors().empty()) break;
    Instruction* with = rewrite_once(i, context);
    if (!with) break;
    i->replace_all_uses_with(with);
    if (!i->has_effect()) i->parent()->erase(i);
    i = with;
    changed = true;
  }
  return changed;
}

}  // namespace

bool simplify(Module& module, const PassContext& context) {
  bool changed = false;
  for (Computation* computation : module.reachable())
    for (Instruction* i : computation->snapshot())
      if (!i->dead()) changed |= rewrite(i, context);
  return changed;
}

}  // namespace armillary
