#include "xla_core/client/simulated_programs.h"

#include <mutex>

namespace armillary {
namespace {

struct All {
  std::mutex mutex;
  std::vector<std::shared_ptr<SimulatedProgram>> programs;
};

All& all() {
  static All* programs = new All;  // queues of devices may outlive static objects
  return *programs;
}

}  // namespace

SimulatedProgram::SimulatedProgram(std::shared_ptr<const Executable> of, sim::Pod on)
    : SimulatedProgram(of, on, simulate(*of, on, {.spans = false})) {}

SimulatedProgram::SimulatedProgram(const std::shared_ptr<const Executable>& of, sim::Pod on,
                                   const sim::Timeline& timeline)
    : name(of->module().name()),
      pod(std::move(on)),
      seconds(timeline.seconds),
      exposed_communication_seconds(timeline.exposed_communication_seconds),
      executable(of) {}

std::shared_ptr<SimulatedProgram> note_simulated(std::shared_ptr<const Executable> executable, sim::Pod pod) {
  check_fits(*executable, pod);
  auto program = std::make_shared<SimulatedProgram>(std::move(executable), std::move(pod));
  std::lock_guard lock(all().mutex);
  all().programs.push_back(program);
  return program;
}

std::vector<std::shared_ptr<const SimulatedProgram>> simulated_programs() {
  std::lock_guard lock(all().mutex);
  return {all().programs.begin(), all().programs.end()};
}

void restart_simulated_programs() {
  std::lock_guard lock(all().mutex);
  std::erase_if(all().programs, [](const auto& p) { return p->executable.expired(); });
  for (const auto& program : all().programs) program->runs = 0;
}

}  // namespace armillary
