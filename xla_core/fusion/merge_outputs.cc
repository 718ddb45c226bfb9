// Multi-output fusion. Two groups may merge when no path leads from one to the other through a third; the
// plan's order tells where to look.
#include <algorithm>

#include "xla_core/fusion/fusible.h"
#include "xla_core/fusion/plan.h"

namespace armillary {

constexpr int kWindow =
    512;  // how far apart, in the plan's order, two groups may stand: keeps the search linear
constexpr size_t kRecent = 4;  // how many readers of a value are remembered

class OutputMerger {
 public:
  explicit OutputMerger(FusionPlan& plan) : plan_(plan), units_(plan.units_) {
    int n = 0;
    for (const Instruction* i : plan.computation_.instructions()) place_[i] = n++;
    for (size_t u = 0; u < units_.size(); ++u) {
      order_.push_back(static_cast<int>(u));
      note_outputs(static_cast<int>(u));
    }
    slot_ = order_;
  }

  void run() {
    for (size_t u = 0; u < units_.size(); ++u) {
      if (units_[u].group && !units_[u].group->roots()[0]->shape().is_tuple()) grow(static_cast<int>(u));
    }
    std::vector<Unit> sorted;
    for (int u : order_)
      if (u >= 0) sorted.push_back(std::move(units_[u]));
    units_ = std::move(sorted);
  }

 private:
  void note_outputs(int u) {
    if (!units_[u].group)
      unit_of_[units_[u].first] = u;
    else
      for (const Instruction* i : plan_.outputs_of(*units_[u].group)) unit_of_[i] = u;
  }

  // Merges into u the producers it reads in its own loop, then earlier readers of what it reads.
  void grow(int u) {
    for (bool merged = true; merged;) {
      merged = false;
      for (Instruction* input : sorted_inputs(*units_[u].group)) {
        if (!spans_loop(*input, u)) continue;
        auto producer = unit_of_.find(input);
        bool feeds = producer != unit_of_.end() && units_[producer->second].group &&
                     units_[u].group->reads_at_root_index(*input);
        merged = feeds && try_merge(producer->second, u);
        for (size_t n = 0; !merged && n < recent_[input].size(); ++n)
          merged = try_merge(recent_[input][n], u);
        if (merged) break;
      }
    }
    for (Instruction* input : units_[u].group->inputs()) {
      std::vector<int>& readers = recent_[input];
      if (readers.size() == kRecent) readers.erase(readers.begin());
      readers.push_back(u);
    }
  }

  std::vector<Instruction*> sorted_inputs(const Group& group) const {
    std::vector<Instruction*> inputs(group.inputs().begin(), group.inputs().end());
    std::sort(inputs.begin(), inputs.end(), [&](auto* a, auto* b) { return place_.at(a) < place_.at(b); });
    return inputs;
  }

  // Reading it once instead of twice is worth something.
  bool spans_loop(const Instruction& input, int u) const {
    if (!input.shape().is_array()) return false;
    return input.shape().num_elements() >= units_[u].group->loop().elements();
  }

  // Units that stand in the window after `a` and depend on it; `b` may depend on `a` itself, but on none of
  // these.
  bool depends(int u, const std::vector<char>& behind, int from, int on) const {
    auto is_behind = [&](const Instruction* i) {
      auto unit = unit_of_.find(i);
      if (unit == unit_of_.end()) return false;
      int slot = slot_[unit->second] - from;
      return unit->second != on && slot >= 0 && slot < static_cast<int>(behind.size()) && behind[slot];
    };
    const Unit& unit = units_[u];
    if (unit.group) return std::any_of(unit.group->inputs().begin(), unit.group->inputs().end(), is_behind);
    const auto& control = unit.first->control_predecessors();
    return std::any_of(unit.first->operands().begin(), unit.first->operands().end(), is_behind) ||
           std::any_of(control.begin(), control.end(), is_behind);
  }

  bool try_merge(int a, int b) {
    if (a == b || !units_[a].group) return false;
    int from = slot_[a], to = slot_[b];
    if (from > to || to - from > kWindow) return false;
    if (!(units_[a].group->loop() == units_[b].group->loop())) return false;
    std::vector<char> behind(to - from + 1, 0);
    behind[0] = 1;
    for (int s = from + 1; s < to; ++s)
      if (order_[s] >= 0) behind[s - from] = depends(order_[s], behind, from, -1);
    if (depends(b, behind, from, a)) return false;
    std::unique_ptr<Group> both = merge_groups(*units_[a].group, *units_[b].group);
    if (!both || !plan_.context_.spend(units_[b].first)) return false;
    replace_holders(units_[a].group.get(), both.get());
    replace_holders(units_[b].group.get(), both.get());
    for (const Instruction* i : units_[a].group->order())
      if (auto unit = unit_of_.find(i); unit != unit_of_.end() && unit->second == a) unit->second = b;
    units_[a].group.reset();
    units_[b].group = std::move(both);
    reorder(from, to, behind);
    return true;
  }

  std::unique_ptr<Group> merge_groups(const Group& a, const Group& b) const {
    std::vector<Instruction*> members;
    for (const Group* g : {&b, &a})
      for (Instruction* i : g->order())
        if (g == &b || !b.contains(i)) members.push_back(i);
    std::sort(members.begin(), members.end(), [&](auto* x, auto* y) { return place_.at(x) > place_.at(y); });
    auto is_root = [&](Instruction* i) {
      auto in = [&](const Group& g) {
        return std::find(g.roots().begin(), g.roots().end(), i) != g.roots().end();
      };
      return in(a) || in(b);
    };
    std::unique_ptr<Group> both;
    for (Instruction* i : members) {
      bool copied = (!a.contains(i) || a.is_copy(i)) && (!b.contains(i) || b.is_copy(i));
      bool fits = true;
      if (!both)
        both = std::make_unique<Group>(i, plan_.context_.options);
      else
        fits = is_root(i) ? both->try_add_root(i) : both->try_add(i, copied);
      if (!fits) return nullptr;
    }
    return both;
  }

  void replace_holders(Group* old, Group* now) {
    for (const Instruction* i : old->order()) {
      if (is_scalar_constant(*i)) continue;  // has no operands: nobody asks where it lives
      std::vector<Group*>& holders = plan_.groups_of_[i];
      std::replace(holders.begin(), holders.end(), old, now);
    }
  }

  // What depends on `a` moves behind the merged group, which takes the place of `b`.
  void reorder(int from, int to, const std::vector<char>& behind) {
    std::vector<int> before, after;
    for (int s = from + 1; s < to; ++s)
      if (order_[s] >= 0) (behind[s - from] ? after : before).push_back(order_[s]);
    int b = order_[to];
    int s = to;
    auto put = [&](int u) {
      order_[s] = u;
      slot_[u] = s;
      --s;
    };
    std::for_each(after.rbegin(), after.rend(), put);
    put(b);
    std::for_each(before.rbegin(), before.rend(), put);
    while (s >= from) order_[s--] = -1;
  }

  FusionPlan& plan_;
  std::vector<Unit>& units_;
  std::vector<int> order_, slot_;  // order_[slot_[u]] == u; -1 where a merged unit was
  std::unordered_map<const Instruction*, int> place_, unit_of_;
  std::unordered_map<const Instruction*, std::vector<int>> recent_;
};

void FusionPlan::merge_outputs() { OutputMerger(*this).run(); }

}  // namespace armillary
