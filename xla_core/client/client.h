// Compile and run: the one API that both edges (pybind, pjrt) wrap.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "xla_core/compile/compiler.h"
#include "xla_core/runtime/runtime.h"

namespace armillary {

class Executable {
 public:
  static std::shared_ptr<Executable> compile(std::unique_ptr<Module> module,
                                             const CompileOptions& options = {});

  // Arguments per parameter leaf, in order; wrong counts, dtypes or dims are user errors that name the
  // parameter. Results per leaf of the root. May be called from several threads at once.
  std::vector<Literal> execute(std::span<const Argument> arguments, StepObserver* observer = nullptr) const;

  // The same for each device of the program, replica * num_partitions + partition; they run side by side.
  // `user` reaches the calls that leave the program (DeviceContext::user).
  std::vector<std::vector<Literal>> execute_on_devices(std::span<const std::vector<Argument>> arguments,
                                                       void* user = nullptr,
                                                       StepObserver* observer = nullptr) const;

  const Module& module() const { return *compiled_.module; }  // optimised and scheduled
  const Program& program() const { return compiled_.program; }
  const std::vector<PassRecord>& passes() const { return compiled_.passes; }
  const std::string& last_rewrite() const { return compiled_.last_rewrite; }
  const std::vector<OverlapReport>& overlap() const { return compiled_.overlap; }
  double compile_seconds() const { return compiled_.seconds; }
  std::string as_text() const;

 private:
  explicit Executable(Compiled compiled)
      : compiled_(std::move(compiled)), arenas_(std::make_unique<ArenaPool>()) {}
  void check(std::span<const Argument> arguments) const;

  Compiled compiled_;
  std::unique_ptr<ArenaPool> arenas_;
};

}  // namespace armillary
