// Every device of a small pod, every message on every link, every trip of every loop.
#include <algorithm>

#include "tpu_sim/core/units.h"
#include "tpu_sim/pod/groups.h"
#include "tpu_sim/pod/machine.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr int kMostDevices = 4096;

class AllDevices {
 public:
  AllDevices(const Pod& pod, const StepList& list) : pod_(pod) {
    for (int i = 0; i < pod.devices(); ++i) machines_.emplace_back(pod, list, nullptr);
  }

  void run(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      const auto& what = step.command->what;
      if (const auto* loop = std::get_if<Loop>(&what)) {
        for (int64_t trip = 0; trip < loop->trips; ++trip) run_body(step);
      } else if (std::holds_alternative<Conditional>(what)) {
        run_body(step);
      } else if (const auto* collective = std::get_if<CollectiveStart>(&what)) {
        run_collective(step, *collective);
      } else {
        for (Machine& machine : machines_) machine.run(step);
      }
    }
  }

  std::vector<double> ends() const {
    std::vector<double> seconds;
    for (const Machine& machine : machines_) {
      machine.finish();
      seconds.push_back(static_cast<double>(machine.now()) / kTicksPerSecond);
    }
    return seconds;
  }

 private:
  void run_body(const Step& step) {
    for (Machine& machine : machines_) machine.turn(step);
    run(step.bodies[0]);
  }

  // Links are taken when the last device is there; devices that a permutation leaves out go on at once.
  void run_collective(const Step& step, const CollectiveStart& collective) {
    const CollectiveTime time = simulate_collective(collective, pod_);
    std::vector<bool> takes_part(machines_.size(), !collective.pairs);
    if (collective.pairs) {
      for (const auto& [from, to] : *collective.pairs) takes_part[from] = takes_part[to] = true;
    }
    Tick start = 0;
    for (size_t i = 0; i < machines_.size(); ++i) {
      if (takes_part[i]) start = std::max(start, machines_[i].collective_ready(step));
    }
    for (size_t i = 0; i < machines_.size(); ++i) {
      const Tick begin = takes_part[i] ? start : machines_[i].now();
      machines_[i].start_collective(step, begin, begin + (takes_part[i] ? time.transfer : 0));
    }
  }

  const Pod& pod_;
  std::vector<Machine> machines_;
};

}  // namespace

std::vector<double> simulate_all(const Program& program, const Pod& pod) {
  if (pod.devices() > kMostDevices) {
    throw resource_error("{} devices: a run of all of them takes at most {}", pod.devices(), kMostDevices);
  }
  const StepList list = make_steps(program, pod);
  AllDevices all(pod, list);
  all.run(list.steps);
  return all.ends();
}

}  // namespace armillary::sim
