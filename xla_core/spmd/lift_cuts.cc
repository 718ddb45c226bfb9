// cut(op(x)) = op(cut(x)).
#include "xla_core/spmd/marks.h"
#include "xla_core/spmd/ties.h"

namespace armillary {
namespace {

// How everybody who uses it wants it cut, or nullptr if some want it whole or cut otherwise.
const Sharding* wanted_cut(const Marks& marks, const Instruction* i) {
  if (i->users().empty() || i->is_root()) return nullptr;
  const Sharding* wanted = marks.is_cut(i->users()[0]);
  for (const Instruction* user : i->users()) {
    const Sharding* s = marks.is_cut(user);
    if (!s || !(*s == *wanted)) return nullptr;
  }
  return wanted;
}

Instruction* made_of_tiles(Marks& marks, Instruction* i, const Sharding& s) {
  const std::optional<std::vector<Sharding>> wanted = operand_shardings(*i, s);
  if (!wanted) return nullptr;
  Build b(i);
  const std::optional<std::vector<Instruction*>> tiles = marks.cut_operands(b, *i, *wanted);
  return tiles ? on_tiles(b, *i, *tiles, s) : nullptr;
}

}  // namespace

bool lift_cuts(Module& m, Marks& marks) {
  bool changed = false;
  for (Computation* c : m.reachable()) {
    std::vector<Instruction*> all = c->snapshot();
    for (auto it = all.rbegin(); it != all.rend(); ++it) {
      Instruction* i = *it;
      const Sharding* s = marks.is_mark(i) ? nullptr : wanted_cut(marks, i);
      Instruction* tile = s ? made_of_tiles(marks, i, Sharding(*s)) : nullptr;
      if (!tile) continue;
      for (Instruction* cut : std::vector<Instruction*>(i->users().begin(), i->users().end())) {
        cut->replace_all_uses_with(tile);
        c->erase(cut);
      }
      c->erase(i);
      changed = true;
    }
  }
  return changed;
}

}  // namespace armillary
