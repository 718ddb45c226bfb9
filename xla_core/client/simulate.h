// A program on a simulated pod: compile it for that, then ask how long it takes.
#pragma once

#include "tpu_sim/pod.h"
#include "xla_core/client/client.h"

namespace armillary {

// What a program is compiled for, of a pod.
std::shared_ptr<const Machine> machine_of(const sim::Pod& pod, std::vector<int> places = {});

struct PodOptions {
  bool values = true;            // also make what computes the results
  bool array = false;            // small dots in the simulated array itself
  bool overlap = true;           // collectives run beside computation
  int64_t partitions = 0;        // how many the program is for, where the module does not say
  bool entry_layouts = false;    // arguments and results lie as the module's entry layout says
  std::vector<int> places = {};  // of each device of the program, its number in the pod; empty: the same
};

// For the target `tpu`. Throws a user error when the program's devices are not the pod's.
std::shared_ptr<Executable> compile_for(std::unique_ptr<Module> module, const sim::Pod& pod,
                                        const PodOptions& options = {});

// Of a program that was compiled for this pod.
sim::Timeline simulate(const Executable& executable, const sim::Pod& pod,
                       const sim::SimulateOptions& options = {});

// Bytes of HBM of one device.
double hbm_capacity(const sim::Pod& pod);

// The peak and the largest buffers, a line each.
std::string describe(const HbmReport& report, double capacity);

// Throws a resource error, with the report, when the program does not fit.
void check_fits(const Executable& executable, const sim::Pod& pod);

}  // namespace armillary
