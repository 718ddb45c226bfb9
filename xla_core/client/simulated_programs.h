// Programs that run for their values while a simulated pod says how long they would take: what ran, and how
// often.
#pragma once

#include <atomic>

#include "xla_core/client/simulate.h"

namespace armillary {

struct SimulatedProgram {
  SimulatedProgram(std::shared_ptr<const Executable> of, sim::Pod on);

  const std::string name;
  const sim::Pod pod;                                   // the part that the program uses
  const double seconds, exposed_communication_seconds;  // of one run
  const std::weak_ptr<const Executable> executable;     // gone when nobody can run it any more
  std::atomic<int64_t> runs = 0;

 private:
  SimulatedProgram(const std::shared_ptr<const Executable>& of, sim::Pod on, const sim::Timeline& timeline);
};

// Simulates it once and remembers it. Throws a resource error when it does not fit HBM.
std::shared_ptr<SimulatedProgram> note_simulated(std::shared_ptr<const Executable> executable, sim::Pod pod);

// In the order in which they were compiled.
std::vector<std::shared_ptr<const SimulatedProgram>> simulated_programs();
// Sets all counts to nothing, and forgets what cannot run any more.
void restart_simulated_programs();

}  // namespace armillary
