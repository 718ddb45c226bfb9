// The event simulation of collectives: every message over every link.
#include <algorithm>
#include <queue>

#include "tpu_sim/ici/plan.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

class Simulation {
 public:
  Simulation(std::span<const Collective> collectives, const Topology& torus, LinkSpeed speed)
      : torus_(torus), links_(torus, speed), results_(collectives.size()) {
    for (const Collective& c : collectives) runs_.push_back({make_plan(c, torus)});
    for (CollectiveResult& result : results_) result.received.assign(torus.chips(), 0);
  }

  std::vector<CollectiveResult> run() {
    for (size_t i = 0; i < runs_.size(); ++i) next_phase(i, 0);
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      step(event);
    }
    for (CollectiveResult& result : results_) result.busy = links_.busy();
    return std::move(results_);
  }

 private:
  struct Run {
    std::vector<Phase> plan;
    size_t next = 0;          // phase
    std::vector<Walk> walks;  // of the phase that runs
    size_t under_way = 0;
  };
  struct Event {  // a message that is at a chip, and may go on
    Tick at;
    int64_t order;  // first come, first served
    size_t run, walk, hop;
    int chip;

    bool operator<(const Event& o) const { return at != o.at ? at > o.at : order > o.order; }
  };

  void push(Event event) {
    event.order = order_++;
    events_.push(event);
  }

  void next_phase(size_t index, Tick now) {
    Run& run = runs_[index];
    results_[index].finish = now;
    run.walks.clear();
    while (run.walks.empty() && run.next < run.plan.size()) {
      for (const Stage& stage : run.plan[run.next++])
        std::ranges::move(make_walks(stage, torus_), back_inserter(run.walks));
    }
    run.under_way = run.walks.size();
    for (size_t w = 0; w < run.walks.size(); ++w) push({now, 0, index, w, 0, run.walks[w].start});
  }

  void step(const Event& event) {
    Run& run = runs_[event.run];
    const Walk& walk = run.walks[event.walk];
    CollectiveResult& result = results_[event.run];
    ++result.events;
    const bool ends = event.hop == walk.bytes.size();
    if (event.hop > 0) {
      const int64_t passed_on = ends || walk.copies ? 0 : walk.bytes[event.hop];
      result.received[event.chip] += walk.bytes[event.hop - 1] - passed_on;
    }
    if (ends) {
      if (--run.under_way == 0) next_phase(event.run, event.at);
      return;
    }
    const Push push_on{event.chip, walk.axis, walk.direction, walk.bytes[event.hop]};
    const int next = torus_.neighbour(event.chip, walk.axis, walk.direction);
    ARM_CHECK(next >= 0);
    push({links_.issue(push_on, event.at), 0, event.run, event.walk, event.hop + 1, next});
  }

  const Topology& torus_;
  Links links_;
  std::vector<Run> runs_;
  std::vector<CollectiveResult> results_;
  std::priority_queue<Event> events_;
  int64_t order_ = 0;
};

}  // namespace

std::vector<CollectiveResult> simulate(std::span<const Collective> collectives, const Topology& torus,
                                       LinkSpeed speed) {
  return Simulation(collectives, torus, speed).run();
}

CollectiveResult simulate(const Collective& collective, const Topology& torus, LinkSpeed speed) {
  return std::move(simulate(std::span(&collective, 1), torus, speed)[0]);
}

}  // namespace armillary::sim
