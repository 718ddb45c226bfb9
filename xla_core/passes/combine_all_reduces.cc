// Short all-reduces of the same devices that do not wait for each other become one: what each of them takes
// is the launch and the way round, and not the bytes. Long ones stay apart, so that each can run beside the
// computation it does not need.
#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "xla_core/passes/build.h"
#include "xla_core/passes/passes.h"
#include "xla_core/passes/same_value.h"

namespace armillary {
namespace {

constexpr int64_t kShort = 64 << 10;  // bytes of all operands together; assumed

bool is_candidate(const Instruction& i) {
  return i.is(Op::all_reduce) && i.num_operands() == 1 && !i.is_root() && !i.users().empty() &&
         i.shape().byte_size() <= kShort &&
         i.attrs().callee(Attr::to_apply)->root()->def().identity != nullptr;
}

bool may_combine(const Instruction& a, const Instruction& b) {
  auto same_text = [&](Attr attr) { return a.attrs().raw(attr) == b.attrs().raw(attr); };
  auto same_flag = [&](Attr attr) { return a.has(attr) == b.has(attr); };
  return a.dtype() == b.dtype() && same_text(Attr::replica_groups) && same_text(Attr::frontend_attributes) &&
         same_flag(Attr::channel_id) && same_flag(Attr::use_global_device_ids) &&
         same_program(*a.attrs().callee(Attr::to_apply), *b.attrs().callee(Attr::to_apply));
}

// Candidates by how many of them must be done before: those of one number do not wait for each other.
std::map<int64_t, std::vector<Instruction*>> by_depth(const Computation& c) {
  std::unordered_map<const Instruction*, int64_t> depths;  // of the result
  std::map<int64_t, std::vector<Instruction*>> out;
  for (Instruction* i : c.instructions()) {
    int64_t depth = 0;
    for (const Instruction* o : i->operands()) depth = std::max(depth, depths[o]);
    if (is_candidate(*i)) out[depth++].push_back(i);
    depths[i] = depth;
  }
  return out;
}

// Combining others may have moved some behind the rest.
void sort_as_they_stand(const Computation& c, std::vector<Instruction*>& members) {
  std::unordered_map<const Instruction*, size_t> places;
  for (const Instruction* i : c.instructions()) places.emplace(i, places.size());
  std::ranges::sort(members, {}, [&](const Instruction* i) { return places.at(i); });
}

// What stands between two of them and needs the first goes behind the last.
void move_users_behind(Computation* c, const std::vector<Instruction*>& members) {
  std::unordered_set<const Instruction*> waiting;
  std::vector<Instruction*> moved;
  Instruction* behind = nullptr;
  for (Instruction* i : c->snapshot()) {
    if (behind == members.back()) {
      behind = i;
      break;
    }
    const bool is_member = std::ranges::find(members, i) != members.end();
    const bool waits =
        std::ranges::any_of(i->operands(), [&](const Instruction* o) { return waiting.contains(o); });
    if (is_member || waits) waiting.insert(i);
    if (waits && !is_member) moved.push_back(i);
    if (i == members.back()) behind = i;
  }
  for (Instruction* i : moved) c->move_before(i, behind);
}

void combine(Computation* c, std::vector<Instruction*> members) {
  sort_as_they_stand(*c, members);
  move_users_behind(c, members);
  Build b(members.back());
  std::vector<Instruction*> operands;
  std::vector<Shape> shapes;
  for (const Instruction* m : members) {
    operands.push_back(m->operand(0));
    shapes.push_back(m->shape());
  }
  Instruction* all = b.add(Op::all_reduce, Shape::make_tuple(shapes), operands, members[0]->attrs());
  for (size_t k = 0; k < members.size(); ++k) {
    members[k]->replace_all_uses_with(b.element(all, static_cast<int64_t>(k)));
    c->erase(members[k]);
  }
}

}  // namespace

bool combine_all_reduces(Module& m, const PassContext& context) {
  bool changed = false;
  for (Computation* c : m.reachable()) {
    const auto& all = c->instructions();
    if (std::ranges::any_of(all, [](const Instruction* i) { return !i->control_predecessors().empty(); }))
      continue;
    for (auto& [depth, candidates] : by_depth(*c))
      while (!candidates.empty()) {
        std::vector<Instruction*> members;
        int64_t bytes = 0;
        for (Instruction* i : candidates) {
          const int64_t more = i->shape().byte_size();
          if (!members.empty() && (bytes + more > kShort || !may_combine(*members[0], *i))) continue;
          members.push_back(i);
          bytes += more;
        }
        std::erase_if(candidates, [&](Instruction* i) { return std::ranges::count(members, i) > 0; });
        if (members.size() == 1 || !context.spend(members[0])) continue;
        combine(c, std::move(members));
        changed = true;
      }
  }
  return changed;
}

}  // namespace armillary
