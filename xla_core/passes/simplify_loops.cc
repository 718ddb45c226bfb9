// Loops and branches: what never runs, runs once, never changes or is never read.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "xla_core/analysis/trip_count.h"
#include "xla_core/passes/build.h"
#include "xla_core/passes/hoist.h"
#include "xla_core/passes/loop_state.h"
#include "xla_core/passes/match.h"
#include "xla_core/passes/passes.h"

namespace armillary {
namespace {

constexpr int64_t kRoom = 1000;  // instructions that copies may add to any module; beyond, as many as it has

// A computation that two instructions call cannot be edited for one of them: every loop gets its own, the
// loops inside the copies too. Returns what stays shared because the copies would grow beyond measure.
std::unordered_set<const Computation*> own_callees(Module& module) {
  std::unordered_set<const Computation*> seen, shared;
  std::vector<Computation*> work = module.reachable();
  for (const Computation* c : work)
    for (const Instruction* i : c->instructions())
      if (!i->is(Op::while_))
        for (const Computation* callee : i->callees()) seen.insert(callee);
  for (int64_t room = kRoom + module.instruction_count(); !work.empty();) {
    const Computation* c = work.back();
    work.pop_back();
    for (Instruction* i : c->instructions()) {
      if (!i->is(Op::while_)) continue;
      for (Computation* callee : i->callees()) {
        if (seen.insert(callee).second) continue;
        if ((room -= callee->size()) < 0) {
          shared.insert(callee);
          continue;
        }
        Computation* own = module.clone_computation(*callee);
        i->replace_callee(callee, own);
        seen.insert(own);
        work.push_back(own);
      }
    }
  }
  return shared;
}

void replace_by_call(Instruction* i, Computation* callee, std::vector<Instruction*> operands) {
  Instruction* call = Build(i).add(Op::call, i->shape(), std::move(operands), with(Attr::to_apply, callee));
  i->replace_all_uses_with(call);
  i->parent()->erase(i);
  inline_call(call);
}

// Loops of no or one round.
bool run_now(Instruction* loop, const PassContext& context) {
  std::optional<Induction> induction = induction_of(*loop);
  bool pure = !loop->has_effect();
  if (!induction || induction->trips > 1 || (induction->trips == 0 && !pure) || !context.spend(loop))
    return false;
  if (induction->trips == 1)
    return replace_by_call(loop, loop->attrs().callee(Attr::body), {loop->operand(0)}), true;
  loop->replace_all_uses_with(loop->operand(0));
  loop->parent()->erase(loop);
  return true;
}

// The branch is known: a pred takes the first one when true, an index out of range the last.
bool take_branch(Instruction* i, const PassContext& context) {
  const Literal* chooser = scalar_behind(*i->operand(0));
  if (!chooser) return false;
  std::vector<Computation*> branches = i->callees();
  int64_t value = chooser->get_int(0), last = static_cast<int64_t>(branches.size()) - 1;
  int64_t taken = is_pred(chooser->dtype()) ? (value ? 0 : 1) : value < 0 || value > last ? last : value;
  if (!context.spend(i)) return false;
  replace_by_call(i, branches[taken], {i->operand(taken + 1)});
  return true;
}

// Elements that stay what they were: later readers take the initial value; scalar constants move inside.
bool forward_unchanged(const Loop& loop, const PassContext& context) {
  bool changed = false;
  for (int64_t k = 0; k < loop.size(); ++k) {
    if (!loop.is_unchanged(k)) continue;
    Instruction* value = loop.initial(k);
    for (Instruction* user : loop.instruction()->users()) {
      bool reads = user->attrs().integer(Attr::index) == k && (!user->users().empty() || user->is_root());
      if (!reads || !context.spend(user)) continue;
      user->replace_all_uses_with(value);
      changed = true;
    }
    if (!value->is(Op::constant) || !value->shape().is_scalar()) continue;
    for (Computation* c : {loop.condition(), loop.body()})
      for (Instruction* read : Loop::reads(*c, k)) {
        bool only_handed_on = read->users().size() == 1 && read->users()[0] == c->root() && c == loop.body();
        if (read->users().empty() || only_handed_on || !context.spend(read)) continue;
        Instruction* inside = c->clone(*value, {}, c->instructions().front());
        std::vector<Instruction*> users(read->users().begin(), read->users().end());
        for (Instruction* user : users)
          for (int64_t n = 0; n < user->num_operands(); ++n)
            if (user->operand(n) == read && user != loop.body()->root()) user->replace_operand(n, inside);
        changed = true;
      }
  }
  return changed;
}

// Which elements the loop's results, its condition or an effect depend on.
std::vector<bool> needed_elements(const Loop& loop) {
  std::vector<bool> needed(loop.size(), false);
  std::vector<const Instruction*> work;
  std::unordered_set<const Instruction*> seen;
  auto need = [&](int64_t k) {
    if (needed[k]) return;
    needed[k] = true;
    work.push_back(loop.next(k));
  };
  for (int64_t k = 0; k < loop.size(); ++k)
    if (loop.is_read_after(k)) need(k);
  for (const Instruction* read : loop.condition()->parameter(0)->users())
    need(read->attrs().integer(Attr::index));
  for (const Instruction* i : loop.body()->instructions())
    if (i->has_effect()) work.push_back(i);
  while (!work.empty()) {
    const Instruction* i = work.back();
    work.pop_back();
    if (!seen.insert(i).second) continue;
    if (i->is(Op::get_tuple_element) && i->operand(0) == loop.body()->parameter(0))
      need(i->attrs().integer(Attr::index));
    work.insert(work.end(), i->operands().begin(), i->operands().end());
    work.insert(work.end(), i->control_predecessors().begin(), i->control_predecessors().end());
  }
  return needed;
}

bool drop_unneeded(Loop& loop, const PassContext& context) {
  std::vector<bool> needed = needed_elements(loop);
  if (std::find(needed.begin(), needed.end(), false) == needed.end() || !context.spend(loop.instruction()))
    return false;
  loop.drop(needed);
  return true;
}

bool simplify_one(Instruction* i, const PassContext& context) {
  if (i->is(Op::conditional)) return take_branch(i, context);
  if (!i->is(Op::while_)) return false;
  if (run_now(i, context)) return true;
  std::optional<Loop> loop = Loop::of(i);
  if (!loop) return false;
  bool changed = forward_unchanged(*loop, context);
  changed |= drop_unneeded(*loop, context);
  changed |= hoist_invariants(*loop, context);
  return changed;
}

}  // namespace

bool simplify_loops(Module& module, const PassContext& context) {
  const std::unordered_set<const Computation*> shared = own_callees(module);
  auto calls_shared = [&](const Instruction& i) {
    const std::vector<Computation*> callees = i.callees();
    return std::any_of(callees.begin(), callees.end(),
                       [&](const Computation* c) { return shared.contains(c); });
  };
  bool changed = false;
  for (Computation* computation : module.reachable())
    for (Instruction* i : computation->snapshot())
      if (!i->dead() && i->control_predecessors().empty() && !(i->is(Op::while_) && calls_shared(*i)))
        changed |= simplify_one(i, context);
  if (changed) module.erase_unreachable_computations();
  return changed;
}

}  // namespace armillary
