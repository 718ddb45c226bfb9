// Machine code for kernels, made by LLVM's ORC in this process.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "xla_core/kernels/kernel.h"
#include "xla_core/program/program.h"

namespace armillary::cpu {

// Keeps its code until it is destroyed: a Program holds the Jit by shared_ptr. All functions may be called
// from several threads.
class Jit {
 public:
  Jit();
  ~Jit();
  Jit(const Jit&) = delete;
  Jit& operator=(const Jit&) = delete;

  // One function a kernel, in order. Kernels with equal structural_key() share their code, also with earlier
  // calls. `reports`, when given, gets one report per piece of machine code made or reused by this call;
  // `uses` counts the kernels of this call.
  std::vector<RangeFunction> compile(std::span<const Kernel> kernels,
                                     std::vector<KernelReport>* reports = nullptr);

  // Called with a kernel's name and its LLVM IR, before ("emitted") and after optimisation ("optimized"); one
  // call at a time.
  void set_ir_dump(
      std::function<void(const std::string& kernel, const std::string& stage, const std::string& ir)> dump);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace armillary::cpu
