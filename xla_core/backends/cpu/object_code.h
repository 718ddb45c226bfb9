// Kernels -> an object file in memory: LLVM's passes and code generator, without the linking.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "xla_core/kernels/kernel.h"

namespace llvm {
class MemoryBuffer;
namespace orc {
class JITTargetMachineBuilder;
}
}  // namespace llvm

namespace armillary::cpu {

// Few iterations of little work do not repay a better code generator.
enum class Tier : uint8_t { kQuick, kGood };
Tier tier_of(const Kernel& kernel);

// The machine we run on.
const llvm::orc::JITTargetMachineBuilder& host_machine();

struct ObjectCode {
  std::unique_ptr<llvm::MemoryBuffer> object;
  std::vector<int64_t> code_bytes;  // a kernel each
  ObjectCode();
  ObjectCode(ObjectCode&&) noexcept;
  ObjectCode& operator=(ObjectCode&&) noexcept;
  ~ObjectCode();
};

using IrDump =
    std::function<void(const std::string& kernel, const std::string& stage, const std::string& ir)>;

// One object file with a function a kernel; many threads may do this at once. `dump` may be empty.
ObjectCode compile_object(std::span<const Kernel* const> kernels, std::span<const std::string> symbols,
                          Tier tier, const IrDump& dump);

}  // namespace armillary::cpu
