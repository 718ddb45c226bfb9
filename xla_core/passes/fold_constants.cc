// Evaluates at compile time what depends on constants only, within a budget of bytes and work.
#include <algorithm>

#include "xla_core/interp/interpreter.h"
#include "xla_core/passes/match.h"
#include "xla_core/passes/passes.h"

namespace armillary {
namespace {

constexpr int64_t kSmallBytes = 4096;  // below this a result may be larger than its operands
constexpr int64_t kTotalBudget = 64;   // all folds of a module together: this many times the limit of one

bool is_known(const Instruction* i) {
  return i->is(Op::constant) && i->shape().is_array() && !i->literal().elided();
}

bool may_fold(const Instruction& i) {
  if (i.has_effect() || i.has(kCallsControl) || i.has(kCollective) || i.has(kCannotRun) ||
      i.num_operands() == 0)
    return false;
  // A broadcast is the short form of what folding would write out.
  if (i.is(Op::broadcast) || i.is(Op::fusion) || i.is(Op::custom_call) || i.is(Op::copy) ||
      i.is(Op::opt_barrier))
    return false;
  if (!i.shape().is_array() || i.shape().is_dynamic() || !can_evaluate(i.op())) return false;
  return std::all_of(i.operands().begin(), i.operands().end(), is_known) && i.control_predecessors().empty();
}

int64_t operand_bytes(const Instruction& i) {
  int64_t bytes = 0;
  for (const Instruction* o : i.operands()) bytes += o->shape().byte_size();
  return bytes;
}

// Scalar operations of an evaluation, roughly.
double work_of(const Instruction& i) {
  const double elements = static_cast<double>(i.shape().num_elements());
  const auto storage = i.context_storage();
  const OpContext context = storage.context(i.attrs(), &i.shape());
  double work = elements;
  if (i.def().flops) work += elements * i.def().flops(context, i.shape());
  if (i.def().body_runs) work += i.def().body_runs(context, i.shape());
  for (const Instruction* o : i.operands()) work += static_cast<double>(o->shape().num_elements());
  return work;
}

// A splat becomes a broadcast scalar. nullptr when the interpreter refuses.
Instruction* folded(Instruction* i) {
  std::vector<Literal> operands;
  for (const Instruction* o : i->operands()) operands.push_back(o->literal());
  try {
    Literal value = evaluate_instruction(*i, operands).clone();
    return Build(i).constant(value.reshaped(i->shape()));
  } catch (const Error&) {
    return nullptr;  // whoever runs it will say so, with its place
  }
}

}  // namespace

bool fold_constants(Module& module, const PassContext& context) {
  const int64_t limit = context.options.constant_folding_max_bytes;
  int64_t budget = kTotalBudget * limit;
  bool changed = false;
  for (Computation* computation : module.reachable()) {
    for (Instruction* i : computation->snapshot()) {
      bool used = !i->users().empty() || i->is_root();
      if (!used || !may_fold(*i)) continue;
      int64_t bytes = i->shape().byte_size();
      bool grows = bytes > kSmallBytes && bytes > operand_bytes(*i);
      if (bytes > limit || bytes > budget || grows ||
          work_of(*i) > static_cast<double>(context.options.constant_folding_max_work))
        continue;
      if (!context.spend(i)) continue;
      Instruction* value = folded(i);
      if (!value) continue;
      budget -= bytes;
      i->replace_all_uses_with(value);
      computation->erase(i);
      changed = true;
    }
  }
  return changed;
}

}  // namespace armillary
