#include "tpu_sim/pod/step.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "tpu_sim/core/units.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr int kDeepest = 1000;  // loops within loops

// Of equal lists the first one; a program may have thousands of copies of a few.
template <class List>
class Distinct {
 public:
  const List* canonical(const List* list) {
    if (!list) return nullptr;
    const auto [known, is_new] = known_.try_emplace(list, list);
    if (!is_new) return known->second;
    const auto same = std::ranges::find_if(lists_, [&](const List* other) { return *other == *list; });
    if (same == lists_.end()) {
      lists_.push_back(list);
    } else {
      known->second = *same;
    }
    return known->second;
  }

 private:
  std::unordered_map<const List*, const List*> known_;
  std::vector<const List*> lists_;
};

class Builder {
 public:
  explicit Builder(const Pod& pod) : pod_(pod), device_(pod.chip) {}

  std::vector<Step> steps_of(const std::vector<Command>& commands) {
    if (++depth_ > kDeepest) throw user_error("loops are nested more than {} deep", kDeepest);
    std::vector<Step> steps;
    steps.reserve(commands.size());
    for (const Command& command : commands) steps.push_back(step_of(command));
    --depth_;
    return steps;
  }

  StepList list;

 private:
  Step step_of(const Command& command) {
    Step step;
    step.command = &command;
    step.label = label_of(command.label);
    ++list.commands;
    std::visit([&](const auto& what) { fill(step, what); }, command.what);
    return step;
  }

  int label_of(const Label& label) {
    const auto [it, is_new] = labels_.try_emplace(label.name, static_cast<int>(list.labels.size()));
    if (is_new) list.labels.push_back(label);
    return it->second;
  }

  template <class OnCore>
  void fill(Step& step, const OnCore& what) {
    step.price = price(what, device_);
    step.alone = step.price.duration;
  }

  void fill(Step&, const Wait&) {}

  // Layers start the same collectives over and over.
  void fill(Step& step, const CollectiveStart& what) {
    const auto key = std::tuple(what.kind, what.bytes, groups_.canonical(what.groups.get()),
                                pairs_.canonical(what.pairs.get()));
    auto found = collectives_.find(key);
    if (found == collectives_.end()) {
      found = collectives_.emplace(key, collective_time(what, pod_)).first;
      const std::string& note = found->second.note;
      if (!note.empty() && !std::ranges::count(list.notes, note)) list.notes.push_back(note);
    }
    step.collective = found->second;
    step.alone = add_ticks(step.collective.launch, step.collective.transfer);
  }

  void fill(Step& step, const Loop& loop) {
    if (loop.trips < 0) throw user_error("a loop of {} trips", loop.trips);
    step.bodies.push_back(steps_of(loop.body));
    step.alone = multiply_ticks(add_ticks(device_.tile_step, sum(step.bodies[0])), loop.trips);
    collect_labels(step.bodies[0], step.labels);
    step.labels.push_back(step.label);
    std::ranges::sort(step.labels);
    step.labels.erase(std::ranges::unique(step.labels).begin(), step.labels.end());
  }

  void fill(Step& step, const Conditional& conditional) {
    const int count = static_cast<int>(conditional.branches.size());
    if (count == 0 || conditional.taken >= count) {
      throw user_error("a conditional takes branch {} of {}", conditional.taken, count);
    }
    std::vector<std::vector<Step>> branches;
    for (const std::vector<Command>& branch : conditional.branches) branches.push_back(steps_of(branch));
    int taken = conditional.taken;
    if (taken < 0) {
      const auto dearest = std::ranges::max_element(branches, {}, [](const auto& b) { return sum(b); });
      taken = static_cast<int>(dearest - branches.begin());
    }
    step.bodies.push_back(std::move(branches[taken]));
    step.alone = add_ticks(device_.tile_step, sum(step.bodies[0]));
  }

  static Tick sum(const std::vector<Step>& steps) {
    Tick total = 0;
    for (const Step& step : steps) total = add_ticks(total, step.alone);
    return total;
  }

  static void collect_labels(const std::vector<Step>& steps, std::vector<int>& labels) {
    for (const Step& step : steps) {
      labels.push_back(step.label);
      for (const auto& body : step.bodies) collect_labels(body, labels);
    }
  }

  using Key = std::tuple<CollectiveKind, int64_t, const DeviceGroups*, const DevicePairs*>;

  const Pod& pod_;
  const Device device_;
  std::unordered_map<std::string, int> labels_;
  std::map<Key, CollectiveTime> collectives_;
  Distinct<DeviceGroups> groups_;
  Distinct<DevicePairs> pairs_;
  int depth_ = 0;
};

}  // namespace

StepList make_steps(const Program& program, const Pod& pod) {
  Builder builder(pod);
  std::vector<Step> steps = builder.steps_of(program.commands);
  builder.list.steps = std::move(steps);
  return std::move(builder.list);
}

}  // namespace armillary::sim
