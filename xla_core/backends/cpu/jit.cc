#include "xla_core/backends/cpu/jit.h"

#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/MemoryBuffer.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "xla_core/backends/cpu/object_code.h"
#include "xla_core/base/error.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::cpu {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

template <class T>
T take(llvm::Expected<T> value) {
  if (!value) throw internal_error("LLVM: {}", llvm::toString(value.takeError()));
  return std::move(*value);
}
void must(llvm::Error error) {
  if (error) throw internal_error("LLVM: {}", llvm::toString(std::move(error)));
}

// What machine code may call besides itself.
llvm::orc::SymbolMap math_symbols(llvm::orc::LLJIT& jit) {
  llvm::orc::SymbolMap map;
  auto add = [&](const char* name, auto* function) {
    map[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                      llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  add("memcpy", static_cast<void* (*)(void*, const void*, size_t)>(std::memcpy));
  add("memset", static_cast<void* (*)(void*, int, size_t)>(std::memset));
  add("memmove", static_cast<void* (*)(void*, const void*, size_t)>(std::memmove));
#define ARM_UNARY(name)                                \
  add(#name, static_cast<double (*)(double)>(::name)); \
  add(#name "f", static_cast<float (*)(float)>(::name##f))
#define ARM_BINARY(name)                                       \
  add(#name, static_cast<double (*)(double, double)>(::name)); \
  add(#name "f", static_cast<float (*)(float, float)>(::name##f))
  ARM_UNARY(cbrt);
  ARM_UNARY(exp);
  ARM_UNARY(expm1);
  ARM_UNARY(log);
  ARM_UNARY(log1p);
  ARM_UNARY(sin);
  ARM_UNARY(cos);
  ARM_UNARY(tan);
  ARM_UNARY(tanh);
  ARM_UNARY(erf);
  ARM_UNARY(asin);
  ARM_UNARY(acos);
  ARM_UNARY(atan);
  ARM_UNARY(sinh);
  ARM_UNARY(cosh);
  ARM_UNARY(asinh);
  ARM_UNARY(acosh);
  ARM_UNARY(atanh);
  ARM_UNARY(floor);
  ARM_UNARY(ceil);
  ARM_UNARY(round);
  ARM_UNARY(roundeven);
  ARM_UNARY(trunc);
  ARM_BINARY(fmod);
  ARM_BINARY(pow);
  ARM_BINARY(atan2);
  add("fma", static_cast<double (*)(double, double, double)>(::fma));
  add("fmaf", static_cast<float (*)(float, float, float)>(::fmaf));
#undef ARM_UNARY
#undef ARM_BINARY
  return map;
}

size_t size_of(const Kernel& k) { return k.body.nodes.size() + 8; }

// Kernels that one thread compiles together: a module costs more than a kernel in it.
struct Batch {
  Tier tier = Tier::kQuick;
  std::vector<size_t> members;  // indices of kernels
  size_t size = 0;
  std::vector<std::string> symbols;
  ObjectCode code;
  double seconds = 0;

  void compile(std::span<const Kernel* const> kernels, const IrDump& dump) {
    const auto start = Clock::now();
    std::vector<const Kernel*> mine;
    for (size_t m : members) mine.push_back(kernels[m]);
    code = compile_object(mine, symbols, tier, dump);
    seconds = seconds_since(start);
  }
};

// Enough batches to keep all threads busy to the end, cut by size.
std::vector<Batch> make_batches(std::span<const Kernel* const> kernels) {
  constexpr size_t kMostMembers = 16;
  size_t total = 0;
  for (const Kernel* k : kernels) total += size_of(*k);
  const size_t threads = num_threads() == 1 ? 1 : static_cast<size_t>(num_threads()) * 3;
  const size_t wanted = total / threads + 1;
  std::vector<Batch> batches;
  for (Tier tier : {Tier::kGood, Tier::kQuick})
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (tier_of(*kernels[i]) != tier) continue;
      const bool full = batches.empty() || batches.back().tier != tier || batches.back().size >= wanted ||
                        batches.back().members.size() >= kMostMembers;
      if (full) batches.emplace_back().tier = tier;
      batches.back().members.push_back(i);
      batches.back().size += size_of(*kernels[i]);
    }
  return batches;
}

struct Code {
  RangeFunction function = nullptr;
  KernelReport report;
};

}  // namespace

struct Jit::Impl {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::mutex mutex;                             // guards what follows
  std::unordered_map<std::string, Code> codes;  // by structural key
  int64_t next_symbol = 0;
  IrDump dump;

  // Compiles what is new and links it.
  void add(std::span<const Kernel* const> kernels, std::span<const std::string> keys);
};

Jit::Jit() : impl_(std::make_unique<Impl>()) {
  impl_->jit = take(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(host_machine()).create());
  must(impl_->jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(math_symbols(*impl_->jit))));
}

Jit::~Jit() = default;

void Jit::set_ir_dump(std::function<void(const std::string&, const std::string&, const std::string&)> dump) {
  const std::lock_guard lock(impl_->mutex);
  impl_->dump = std::move(dump);
}

void Jit::Impl::add(std::span<const Kernel* const> kernels, std::span<const std::string> keys) {
  std::vector<Batch> batches = make_batches(kernels);
  for (Batch& batch : batches)
    for (size_t i = 0; i < batch.members.size(); ++i)
      batch.symbols.push_back("kernel" + std::to_string(next_symbol++));
  std::mutex dumping;
  const IrDump one_at_a_time = [&](const std::string& kernel, const std::string& stage,
                                   const std::string& ir) {
    const std::lock_guard lock(dumping);
    dump(kernel, stage, ir);
  };
  parallel_for(static_cast<int64_t>(batches.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) batches[i].compile(kernels, dump ? one_at_a_time : IrDump());
  });
  for (Batch& batch : batches) must(jit->addObjectFile(std::move(batch.code.object)));
  for (const Batch& batch : batches)
    for (size_t i = 0; i < batch.members.size(); ++i) {
      const Kernel& kernel = *kernels[batch.members[i]];
      Code code{take(jit->lookup(batch.symbols[i])).toPtr<RangeFunction>(),
                {.name = kernel.name, .code_bytes = batch.code.code_bytes[i]}};
      code.report.compile_seconds =
          batch.seconds * static_cast<double>(size_of(kernel)) / static_cast<double>(batch.size);
      codes.emplace(keys[batch.members[i]], code);
    }
}

std::vector<RangeFunction> Jit::compile(std::span<const Kernel> kernels, std::vector<KernelReport>* reports) {
  const std::lock_guard lock(impl_->mutex);
  std::vector<std::string> keys;
  std::vector<const Kernel*> fresh;
  std::vector<std::string> fresh_keys;
  std::unordered_map<std::string, int64_t> uses;
  for (const Kernel& k : kernels) {
    keys.push_back(k.structural_key());
    if (uses[keys.back()]++ > 0 || impl_->codes.contains(keys.back())) continue;
    fresh.push_back(&k);
    fresh_keys.push_back(keys.back());
  }
  impl_->add(fresh, fresh_keys);
  std::vector<RangeFunction> functions;
  for (const std::string& key : keys) {
    const Code& code = impl_->codes.at(key);
    functions.push_back(code.function);
    if (!reports || uses[key] == 0) continue;
    reports->push_back(code.report);
    reports->back().uses = std::exchange(uses[key], 0);
  }
  return functions;
}

}  // namespace armillary::cpu
