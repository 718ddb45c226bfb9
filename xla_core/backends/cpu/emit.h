// Kernel -> LLVM IR.
#pragma once

#include <string>

#include "xla_core/kernels/kernel.h"

namespace llvm {
class Module;
}

namespace armillary::cpu {

struct EmitOptions {
  int vector_bits = 256;    // of one register; 0: scalar code only
  bool masks = false;       // masked loads and stores are cheap
  bool half_floats = true;  // the machine converts between f16 and f32
};

// Adds the kernel's function, a RangeFunction called `symbol`, to the module.
void emit_kernel(const Kernel& kernel, const std::string& symbol, llvm::Module& module,
                 const EmitOptions& options);

}  // namespace armillary::cpu
