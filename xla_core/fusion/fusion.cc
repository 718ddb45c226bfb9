#include "xla_core/fusion/fusion.h"

#include <unordered_map>

#include "xla_core/fusion/emit.h"

namespace armillary {
bool fuse(Module& module, const PassContext& context) {
  bool changed = false;
  for (Computation* computation : module.control_computations()) {
    FusionPlan plan(*computation, context);
    plan.fuse_producers();
    if (context.options.multi_output_fusion) plan.merge_outputs();
    changed |= emit_fusions(*computation, plan);
  }
  return changed;
}

void unfuse(Instruction* fusion) {
  const Computation* body = fusion->callees()[0];
  Computation* computation = fusion->parent();
  std::unordered_map<const Instruction*, Instruction*> copies;
  for (const Instruction* i : body->instructions()) {
    if (i->is(Op::parameter)) {
      copies[i] = fusion->operand(i->parameter_number());
      continue;
    }
    std::vector<Instruction*> operands;
    for (const Instruction* o : i->operands()) operands.push_back(copies.at(o));
    copies[i] = computation->clone(*i, std::move(operands), fusion);
  }
  fusion->replace_all_uses_with(copies.at(body->root()));
  computation->erase(fusion);
}

}  // namespace armillary
