// Dead code: instructions without users, computations without callers.
#include <unordered_set>

#include "xla_core/passes/passes.h"

namespace armillary {
namespace {

// Somebody waits for these though nobody reads them.
std::unordered_set<const Instruction*> control_predecessors_in(const Computation& computation) {
  std::unordered_set<const Instruction*> result;
  for (const Instruction* i : computation.instructions())
    result.insert(i->control_predecessors().begin(), i->control_predecessors().end());
  return result;
}

}  // namespace

// Removes instructions nobody uses and nobody would miss.
bool dce(Module& module, const PassContext& context) {
  bool changed = false;
  for (Computation* computation : module.reachable()) {
    auto awaited = control_predecessors_in(*computation);
    std::vector<Instruction*> order = computation->snapshot();
    for (auto i = order.rbegin(); i != order.rend(); ++i) {  // users first: one sweep takes whole chains
      Instruction* instr = *i;
      bool needed =
          !instr->users().empty() || instr->is_root() || instr->is(Op::parameter) || awaited.contains(instr);
      if (needed || instr->has_effect() || !context.spend(instr)) continue;
      computation->erase(instr);
      changed = true;
    }
  }
  size_t computations = module.computations().size();
  module.erase_unreachable_computations();
  return changed || module.computations().size() != computations;
}

}  // namespace armillary
