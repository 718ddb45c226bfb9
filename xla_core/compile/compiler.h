// From a module as it was read to a program that runs: the one page that knows the order of the stages.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "xla_core/hlo/module.h"
#include "xla_core/passes/pass.h"
#include "xla_core/program/program.h"
#include "xla_core/schedule/overlap.h"
#include "xla_core/target/target.h"

namespace armillary {

struct XlaFlags;

struct CompileOptions {
  std::string target = "cpu";
  std::shared_ptr<const Machine> machine;  // for targets that need to know it (backends/tpu/machine.h)
  bool overlap = true;                     // collectives run beside computation, where the target knows costs
  std::function<void(Module&)> prepare_values;  // asked before that is compiled
  bool values = true;  // of a simulated target: also compile what computes the values
  // Arguments and results lie in memory as the module's entry layout says; else they are row-major.
  bool entry_layouts = false;
  std::shared_ptr<const XlaFlags> xla_flags = nullptr;  // for this program; else those of the environment
  PassOptions passes;
  bool optimise =
      true;  // false: only what the back end needs (expanders, layouts, buffers); for bisecting and tests
};

struct Compiled {
  std::unique_ptr<Module> module;  // as optimised and scheduled
  Program program;
  std::vector<PassRecord> passes;
  std::string last_rewrite;  // when pass_fuel ran out: what it stopped after
  double seconds = 0;
  std::vector<OverlapReport> overlap;  // of the computations that have collectives
};

Compiled compile(std::unique_ptr<Module> module, const CompileOptions& options = {});

// Everything compile() does before machine code is made; used by `armillary opt` and by tests of the
// pipeline.
std::vector<OverlapReport> optimise(Module& module, const Target& target, const CompileOptions& options,
                                    const PassContext& context);

// The targets in order of preference; a user error names the known ones when there is no such target, and
// says why one is unavailable.
std::vector<const Target*> all_targets();
const Target& target_from_name(std::string_view name);

// All passes of all rooms are in the registry after this (passes/pass.h).
void register_all_passes();

}  // namespace armillary
