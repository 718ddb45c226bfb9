// Instructions that run as ahead-of-time code (native/) instead of JIT-compiled loops.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "xla_core/hlo/module.h"
#include "xla_core/kernels/kernel.h"
#include "xla_core/program/program.h"

namespace armillary::cpu {

// Kernels to compile, by number; the pointers are there when a step runs.
struct FunctionTable {
  std::vector<Kernel> kernels;
  std::shared_ptr<std::vector<RangeFunction>> pointers = std::make_shared<std::vector<RangeFunction>>();
  int add(Kernel kernel) {
    kernels.push_back(std::move(kernel));
    return static_cast<int>(kernels.size()) - 1;
  }
};

// Buffers: operand leaves in order, then result leaves.
using NativeFunction = std::function<void(std::byte* const* buffers)>;
using DeviceFunction = std::function<void(std::byte* const* buffers, const DeviceContext&)>;

bool has_native_step(const Instruction& i, std::string* why);
// A step of kind kNative or kDevice, without its buffers.
void make_native_step(const Instruction& i, FunctionTable& functions, Step& step);

// Result leaf `leaf` is operand `operand` with a part overwritten; the step expects the operand's value in
// the result's buffer already.
bool native_may_share(const Instruction& i, int64_t operand, int64_t leaf);

}  // namespace armillary::cpu
