// Common subexpressions: one instruction for each value.
#include <unordered_map>

#include "xla_core/passes/passes.h"
#include "xla_core/passes/same_value.h"

namespace armillary {
namespace {

struct BodyHash {
  size_t operator()(const Computation* c) const { return hash_of(*c); }
};
struct BodyEqual {
  bool operator()(const Computation* a, const Computation* b) const { return same_program(*a, *b); }
};

// reduce, map, sort ... with equal bodies call one computation, so that they compare equal.
bool merge_bodies(Module& module) {
  std::unordered_map<Computation*, Computation*, BodyHash, BodyEqual> first;
  std::unordered_map<Computation*, Computation*> merged;  // by identity: each body is hashed once
  bool changed = false;
  for (Computation* computation : module.reachable()) {
    for (Instruction* i : computation->instructions()) {
      if (!i->has(kCallsEmbedded) || i->is(Op::fusion)) continue;
      for (Computation* callee : i->callees()) {
        auto [seen, fresh] = merged.try_emplace(callee, nullptr);
        if (fresh) seen->second = first.try_emplace(callee, callee).first->second;
        if (seen->second == callee) continue;
        i->replace_callee(callee, seen->second);
        changed = true;
      }
    }
  }
  return changed;
}

bool may_merge(const Instruction& i) {
  return !i.is(Op::parameter) && !i.has_effect() && !i.has(kCollective) && !i.has(kAsyncStart) &&
         !i.has(kAsyncDone) && !i.has(kCallsControl) && i.control_predecessors().empty() &&
         !i.shape().is_token() && !i.is(Op::opt_barrier);
}

struct Hash {
  size_t operator()(const Instruction* i) const { return hash_of(*i); }
};
struct Equal {
  bool operator()(const Instruction* a, const Instruction* b) const { return same_value(*a, *b); }
};

}  // namespace

bool cse(Module& module, const PassContext& context) {
  bool changed = merge_bodies(module);
  for (Computation* computation : module.reachable()) {
    std::unordered_map<const Instruction*, Instruction*, Hash, Equal> first;
    for (Instruction* i : computation->snapshot()) {
      if (!may_merge(*i)) continue;
      auto [same, fresh] = first.try_emplace(i, i);
      if (fresh || !context.spend(i)) continue;
      i->replace_all_uses_with(same->second);
      computation->erase(i);
      changed = true;
    }
  }
  if (changed) module.erase_unreachable_computations();
  return changed;
}

}  // namespace armillary
