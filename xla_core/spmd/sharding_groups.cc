#include "xla_core/spmd/sharding_groups.h"

#include <algorithm>
#include <map>

#include "xla_core/spmd/mesh.h"

namespace armillary {
namespace {

// The calls of each group, which stand behind their members.
using Groups = std::map<std::string, std::vector<Instruction*>>;

Groups groups_of(const Module& m) {
  Groups groups;
  for (Computation* c : m.reachable())
    for (Instruction* i : c->instructions())
      if (i->is(Op::custom_call) && i->attrs().text(Attr::custom_call_target) == kShardingGroup &&
          i->num_operands() == 1)
        groups[frontend_attribute(i->attrs().raw(Attr::frontend_attributes), "xla.sdy.sharding_group_id")]
            .push_back(i);
  return groups;
}

// Whoever uses the member behind the call uses `with`.
void replace_behind(Instruction* call, Instruction* with) {
  Computation* c = call->parent();
  Instruction* member = call->operand(0);
  bool behind = false;
  for (Instruction* i : c->instructions()) {
    for (int64_t o = 0; behind && o < i->num_operands(); ++o)
      if (i->operand(o) == member) i->replace_operand(o, with);
    behind |= i == call;
  }
  if (c->root() == member) c->set_root(with);
}

const Sharding* known(const std::vector<Instruction*>& calls, const Marks& marks) {
  for (const Instruction* call : calls)
    if (const Sharding* s = marks.joined(call->operand(0))) return s;
  return nullptr;
}

void erase(Instruction* call) {
  Build b(call);
  call->replace_all_uses_with(b.tuple({}));
  call->parent()->erase(call);
}

void cut_alike(const std::vector<Instruction*>& calls, const Sharding& s, Marks& marks) {
  for (Instruction* call : calls) {
    Instruction* member = call->operand(0);
    const bool fits =
        member->shape().is_array() && member->dims().size() == s.tiles.size() && s.divides(member->shape());
    if (!marks.joined(member) && fits) {
      Build b(call);
      replace_behind(call, marks.join(b, marks.cut(b, member, s), s, member->shape()));
    }
    erase(call);
  }
}

}  // namespace

bool agree_in_groups(Module& m, Marks& marks) {
  const Groups groups = groups_of(m);
  bool any = false;
  for (const auto& [id, calls] : groups)
    if (const Sharding* s = known(calls, marks)) {
      const Sharding copy = *s;  // marks are added
      cut_alike(calls, copy, marks);
      any = true;
    }
  if (any) return true;
  for (const auto& [id, calls] : groups) std::ranges::for_each(calls, erase);
  return !groups.empty();
}

}  // namespace armillary
