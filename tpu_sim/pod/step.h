// A program with its prices: each command's cost is looked up once, however often it runs.
#pragma once

#include <vector>

#include "tpu_sim/core/price.h"
#include "tpu_sim/pod.h"
#include "tpu_sim/pod/collective_time.h"

namespace armillary::sim {

struct Step {
  const Command* command = nullptr;
  int label = 0;              // in StepList::labels
  Price price;                // of commands that run on the core, and of copies and host transfers
  CollectiveTime collective;  // of starts
  std::vector<std::vector<Step>> bodies;  // of a loop: one; of a conditional: the branch taken
  std::vector<int> labels;                // of a loop: all labels in it, each once
  Tick alone = 0;                         // without waits, bodies as often as they run
};

struct StepList {
  std::vector<Step> steps;
  std::vector<Label> labels;  // each name once, in program order
  int64_t commands = 0;
  std::vector<std::string> notes;
};

// The program must outlive the list.
StepList make_steps(const Program& program, const Pod& pod);

}  // namespace armillary::sim
