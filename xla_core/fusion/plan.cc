#include "xla_core/fusion/plan.h"

#include <algorithm>

#include "xla_core/fusion/fusible.h"

namespace armillary {

FusionPlan::FusionPlan(Computation& computation, const PassContext& context)
    : computation_(computation), context_(context) {
  for (const Instruction* i : computation.instructions()) {
    for (const Instruction* before : i->control_predecessors()) {
      pinned_[before] = true;
      pinned_[i] = true;
    }
  }
}

bool FusionPlan::is_movable(const Instruction& i) const {
  return is_fusible(i, context_.options.fusion) && !pinned_.contains(&i);
}

// A copy inside a group serves that group alone; everybody else reads the one kept outside.
bool FusionPlan::is_read_elsewhere(const Instruction& i, const Group& group) const {
  if (i.is_root()) return true;
  for (const Instruction* user : i.users()) {
    auto holders = groups_of_.find(user);
    if (holders == groups_of_.end()) return true;
    for (const Group* holder : holders->second)
      if (holder != &group && !holder->contains(&i)) return true;
  }
  return false;
}

// n consumers that each compute the producer read its operands n times; else it is written once and read n
// times.
bool FusionPlan::copies_save_traffic(const Instruction& producer, size_t consumers) const {
  if (price_of(producer) == Price::kFree) return true;
  size_t read = 0;
  for (const Instruction* o : producer.operands()) {
    read += !is_made_up(*o) && o->shape().byte_size() * 2 > producer.shape().byte_size();
  }
  return read * consumers <= read + 1 + consumers;
}

void FusionPlan::copy_where_free(Instruction* producer, const std::vector<Group*>& consumers) {
  if (price_of(*producer) != Price::kFree || context_.fuel.limit >= 0)
    return;  // copies are no rewrites of their own
  for (Group* group : consumers)
    if (group->try_add(producer, /*copied=*/true)) groups_of_[producer].push_back(group);
}

// The groups that read the producer; `all` becomes false when somebody else reads it too.
std::vector<Group*> FusionPlan::consumers_of(const Instruction& producer, bool* all) const {
  std::vector<Group*> consumers;
  std::unordered_set<const Group*> seen;
  *all = !producer.is_root();
  for (const Instruction* user : producer.users()) {
    auto holders = groups_of_.find(user);
    *all &= holders != groups_of_.end();
    if (holders == groups_of_.end()) continue;
    for (Group* group : holders->second) {
      bool takes = !is_alias(*group->roots()[0]);
      *all &= takes;
      if (takes && seen.insert(group).second) consumers.push_back(group);
    }
  }
  return consumers;
}

// True when the producer now lives inside its consumers and needs no unit of its own.
bool FusionPlan::absorb(Instruction* producer) {
  bool all = true;
  std::vector<Group*> consumers = consumers_of(*producer, &all);
  bool fits = all && !consumers.empty();
  if (consumers.size() > 1)
    fits &= price_of(*producer) != Price::kCostly && copies_save_traffic(*producer, consumers.size());
  for (size_t n = 0; fits && n < consumers.size(); ++n) fits = consumers[n]->can_add(*producer, n > 0);
  if (!fits || !context_.spend(producer)) {
    copy_where_free(producer, consumers);
    return false;
  }
  for (size_t n = 0; n < consumers.size(); ++n) consumers[n]->try_add(producer, n > 0);
  groups_of_[producer] = consumers;
  return true;
}

void FusionPlan::fuse_producers() {
  std::vector<Instruction*> order = computation_.snapshot();
  for (auto i = order.rbegin(); i != order.rend();
       ++i) {  // consumers first: all users of a producer have their groups
    Instruction* instr = *i;
    Unit unit{instr, nullptr};
    if (is_movable(*instr)) {
      if (absorb(instr)) continue;
      unit.group = std::make_unique<Group>(instr, context_.options);
      groups_of_[instr].push_back(unit.group.get());
    }
    units_.push_back(std::move(unit));
  }
  std::reverse(units_.begin(), units_.end());
}

std::vector<Instruction*> FusionPlan::outputs_of(const Group& group) const {
  std::vector<Instruction*> outputs;
  for (Instruction* i : group.order())
    if (!group.is_copy(i) && is_read_elsewhere(*i, group)) outputs.push_back(i);
  std::reverse(outputs.begin(), outputs.end());
  return outputs;
}

}  // namespace armillary
