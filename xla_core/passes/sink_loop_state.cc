// What a loop carries unchanged but could as well make itself: iotas, broadcast constants, masks of them.
// Memory is worth more there than the few operations, which fuse into their readers.
#include <unordered_map>

#include "xla_core/passes/loop_state.h"
#include "xla_core/passes/passes.h"

namespace armillary {
namespace {

constexpr int kMostInstructions = 8;  // made again in the body

// Made of nothing but constants, by cheap operations; *count of them are left after it.
bool is_made_of_nothing(const Instruction& i, int* count) {
  if (--*count < 0 || !i.shape().is_array() || !i.control_predecessors().empty()) return false;
  if (i.is(Op::constant)) return i.shape().is_scalar();
  const bool cheap = i.is(Op::iota) || i.is(Op::broadcast) || i.is(Op::reshape) ||
                     (i.has(kElementwise) && !i.has(kExpensive));
  if (!cheap) return false;
  for (const Instruction* o : i.operands())
    if (!is_made_of_nothing(*o, count)) return false;
  return true;
}

using Copies = std::unordered_map<const Instruction*, Instruction*>;

Instruction* copy_into(Computation* to, Instruction* before, const Instruction& i, Copies& copies) {
  auto found = copies.find(&i);
  if (found != copies.end()) return found->second;
  std::vector<Instruction*> operands;
  for (const Instruction* o : i.operands()) operands.push_back(copy_into(to, before, *o, copies));
  return copies[&i] = to->clone(i, std::move(operands), before);
}

bool sink_into(Loop& loop, const PassContext& context) {
  bool changed = false;
  Copies copies;
  Instruction* first = loop.body()->instructions().front();
  for (int64_t k = 0; k < loop.size(); ++k) {
    int count = kMostInstructions;
    Instruction* initial = loop.initial(k);
    if (!loop.is_unchanged(k) || initial->shape().is_scalar() || !is_made_of_nothing(*initial, &count))
      continue;
    for (Instruction* read : Loop::reads(*loop.body(), k)) {
      bool only_handed_on = true;
      for (const Instruction* user : read->users()) only_handed_on &= user == loop.body()->root();
      if (only_handed_on || !context.spend(read)) continue;
      Instruction* made = copy_into(loop.body(), first, *initial, copies);
      for (Instruction* user : std::vector<Instruction*>(read->users().begin(), read->users().end())) {
        if (user == loop.body()->root()) continue;
        for (int64_t n = 0; n < user->num_operands(); ++n)
          if (user->operand(n) == read) user->replace_operand(n, made);
      }
      changed = true;
    }
  }
  return changed;
}

}  // namespace

// Callers first, so that what one loop makes is sunk into the loops inside it.
bool sink_loop_state(Module& module, const PassContext& context) {
  bool changed = false;
  std::vector<Computation*> computations = module.reachable();
  for (auto c = computations.rbegin(); c != computations.rend(); ++c)
    for (Instruction* i : (*c)->snapshot()) {
      if (!i->is(Op::while_)) continue;
      if (std::optional<Loop> loop = Loop::of(i)) changed |= sink_into(*loop, context);
    }
  return changed;
}

}  // namespace armillary
