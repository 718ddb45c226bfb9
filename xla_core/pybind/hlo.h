// Handles on parts of a module: they keep the module alive, whose arena keeps even erased instructions.
#pragma once

#include <memory>

#include "xla_core/hlo/module.h"

namespace armillary {

struct ComputationHandle {
  std::shared_ptr<Module> module;
  Computation* computation;
};

struct InstructionHandle {
  std::shared_ptr<Module> module;
  Instruction* instruction;
};

}  // namespace armillary
