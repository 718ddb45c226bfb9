// Calls, composites among them, become the bodies of their callees.
#include <unordered_map>

#include "xla_core/passes/expand.h"
#include "xla_core/passes/passes.h"

namespace armillary {
namespace {

// jit(f)/jit(g) and jit(g)/add make jit(f)/jit(g)/add.
std::string join_op_names(const std::string& outer, const std::string& inner) {
  if (outer.empty() || inner.starts_with(outer)) return inner;
  if (inner.empty()) return outer;
  std::string last = outer.substr(outer.rfind('/') + 1);
  if (inner.starts_with(last + "/")) return outer + inner.substr(last.size());
  return outer + "/" + inner;
}

void inherit_metadata(Instruction* copy, const Instruction& call) {
  const Metadata& outer = call.metadata();
  if (outer.empty()) return;
  Metadata m = copy->metadata();
  if (m.empty())
    m = outer;
  else
    m.op_name = join_op_names(outer.op_name, m.op_name);
  copy->set_metadata(std::move(m));
}

bool takes_part_in_control(const Computation& computation) {
  for (const Instruction* i : computation.instructions())
    if (!i->control_predecessors().empty()) return true;
  return false;
}

}  // namespace

// Copies the callee in front of the call and lets the copy of its root stand for the call.
void inline_call(Instruction* call) {
  const Computation* callee = call->callees()[0];
  Computation* computation = call->parent();
  std::unordered_map<const Instruction*, Instruction*> copies;
  for (const Instruction* i : callee->instructions()) {
    if (i->is(Op::parameter)) {
      copies[i] = call->operand(i->parameter_number());
      continue;
    }
    std::vector<Instruction*> operands;
    for (const Instruction* o : i->operands()) operands.push_back(copies.at(o));
    Instruction* copy = computation->clone(*i, std::move(operands), call);
    for (const Instruction* before : i->control_predecessors())
      if (!before->is(Op::parameter)) copy->add_control_predecessor(copies.at(before));
    inherit_metadata(copy, *call);
    copies[i] = copy;
  }
  call->replace_all_uses_with(copies.at(callee->root()));
  computation->erase(call);
}

Instruction* inlined(Instruction* before, Computation* callee, std::span<Instruction* const> operands) {
  Build b(before);
  Instruction* call = b.add(Op::call, callee->root()->shape(), {operands.begin(), operands.end()},
                            with(Attr::to_apply, callee));
  Instruction* reader = b.tuple({call});  // sees what the call is replaced by
  inline_call(call);
  Instruction* value = reader->operand(0);
  before->parent()->erase(reader);
  return value;
}

// Callees come first in reachable(), so what is copied has no calls left. A doubling chain of calls stops at
// the limit.
bool inline_calls(Module& module, const PassContext& context) {
  int64_t total = module.instruction_count();
  const int64_t limit = std::max(2 * total, context.options.inline_max_instructions);
  bool changed = false;
  for (Computation* computation : module.reachable()) {
    if (takes_part_in_control(*computation)) continue;
    for (Instruction* i : computation->snapshot()) {
      if (!i->is(Op::call) || total + i->callees()[0]->size() > limit || !context.spend(i)) continue;
      total += i->callees()[0]->size();
      inline_call(i);
      changed = true;
    }
  }
  module.erase_unreachable_computations();
  return changed;
}

}  // namespace armillary
