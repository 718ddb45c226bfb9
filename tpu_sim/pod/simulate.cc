// The representative device: loops run until a trip begins as an earlier one did, then the rest is
// extrapolated.
#include <algorithm>
#include <deque>

#include "tpu_sim/core/units.h"
#include "tpu_sim/pod/machine.h"
#include "tpu_sim/pod/report.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr size_t kLongestPeriod = 8;  // trips that may differ before they repeat
constexpr int64_t kMostTripsSimulated = 4096;

class Runner {
 public:
  Runner(const Pod& pod, const StepList& list, const SimulateOptions& options, Timeline& timeline)
      : list_(list), options_(options), timeline_(timeline), machine_(pod, list, recorder()) {}

  void run() {
    run(list_.steps);
    machine_.finish();
    for (const auto& [name, simulated] : extrapolated_) {
      timeline_.notes.push_back(
          fmt::format("{}: {} trips simulated, the others repeat them exactly", name, simulated));
    }
  }

  Machine& machine() { return machine_; }

 private:
  struct Trip {
    Machine::State state;
    Totals totals;
    Tick start;
  };

  Machine::Record recorder() {
    if (!options_.spans) return nullptr;
    return [this](const Span& span) {
      if (static_cast<int64_t>(timeline_.spans.size()) < options_.most_spans)
        return timeline_.spans.push_back(span);
      if (!std::exchange(full_, true)) {
        timeline_.notes.push_back(fmt::format("only the first {} spans are kept", options_.most_spans));
      }
    };
  }

  void run(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      if (const auto* loop = std::get_if<Loop>(&step.command->what)) {
        run_loop(step, loop->trips);
      } else if (std::holds_alternative<Conditional>(step.command->what)) {
        ++machine_.totals().labels[step.label].runs;
        machine_.turn(step);
        run(step.bodies[0]);
      } else {
        machine_.run(step);
      }
      if (&steps == &list_.steps && options_.progress && (&step - steps.data()) % 256 == 0) {
        options_.progress(static_cast<double>(&step - steps.data()) / static_cast<double>(steps.size()));
      }
    }
  }

  void run_trip(const Step& step) {
    machine_.turn(step);
    run(step.bodies[0]);
  }

  void run_loop(const Step& step, int64_t trips) {
    ++machine_.totals().labels[step.label].runs;
    std::deque<Trip> earlier;
    for (int64_t trip = 0; trip < trips; ++trip) {
      Trip begin{machine_.state(), machine_.totals().of(step.labels), machine_.now()};
      const auto same = std::ranges::find(earlier, begin.state, &Trip::state);
      if (same != earlier.end() || trip == kMostTripsSimulated) {
        if (same == earlier.end()) note_inexact(step);
        const Trip& from = same == earlier.end() ? earlier.front() : *same;
        const int64_t period = earlier.end() - (same == earlier.end() ? earlier.begin() : same);
        const int64_t times = (trips - trip) / period;
        repeat(step, from, times);
        if (times > 0) note_extrapolated(step, trip, same != earlier.end());
        for (int64_t rest = (trips - trip) % period; rest > 0; --rest) run_trip(step);
        return;
      }
      earlier.push_back(std::move(begin));
      if (earlier.size() > kLongestPeriod) earlier.pop_front();
      run_trip(step);
    }
  }

  void repeat(const Step& step, const Trip& from, int64_t times) {
    const Tick time = multiply_ticks(machine_.now() - from.start, times);
    machine_.totals().repeat(from.totals, step.labels, times);
    machine_.skip(time);
  }

  void note_inexact(const Step& step) {
    const std::string note =
        fmt::format("{}: trips did not repeat exactly; the mean of the last {} stands for the rest",
                    step.command->label.name, kLongestPeriod);
    if (!std::ranges::count(timeline_.notes, note)) timeline_.notes.push_back(note);
  }

  void note_extrapolated(const Step& step, int64_t simulated, bool exact) {
    if (!exact) return;
    int64_t& most = extrapolated_[step.command->label.name];
    most = std::max(most, simulated);
  }

  const StepList& list_;
  const SimulateOptions& options_;
  Timeline& timeline_;
  std::map<std::string, int64_t> extrapolated_;
  bool full_ = false;
  Machine machine_;
};

}  // namespace

Timeline simulate(const Program& program, const Pod& pod, const SimulateOptions& options) {
  const StepList list = make_steps(program, pod);
  Timeline timeline;
  timeline.notes = list.notes;
  Runner runner(pod, list, options, timeline);
  runner.run();
  fill_report(timeline, list, pod, runner.machine());
  if (options.progress) options.progress(1);
  return timeline;
}

}  // namespace armillary::sim
