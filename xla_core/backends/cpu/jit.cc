#include "xla_core/backends/cpu/jit.h"

#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>

#include "xla_core/backends/cpu/emit.h"
#include "xla_core/base/error.h"
#include "xla_core/base/parallel_for.h"
#include "xla_core/kernels/math.h"

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

struct Host {
  llvm::orc::JITTargetMachineBuilder builder;
  int vector_bits;
};

// The machine we run on. 512-bit registers are used where they are.
const Host& host() {
  static const Host h = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto builder = take(llvm::orc::JITTargetMachineBuilder::detectHost());
    const auto features = llvm::sys::getHostCPUFeatures();
    const bool wide = features.lookup("avx512f") && features.lookup("avx512bw") &&
                      features.lookup("avx512dq") && features.lookup("avx512vl");
    const bool avx2 = features.lookup("avx2") && features.lookup("fma");
    return Host{std::move(builder), wide ? 512 : avx2 ? 256 : 128};
  }();
  return h;
}

// Few iterations of little work do not repay a better code generator.
enum class Tier { kQuick, kGood };
Tier tier_of(const Kernel& k) {
  constexpr double kFewOperations = 50'000;
  return static_cast<double>(k.extent) * k.work_per_iteration < kFewOperations ? Tier::kQuick : Tier::kGood;
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(Tier tier) {
  auto builder = host().builder;
  builder.setCodeGenOptLevel(tier == Tier::kQuick ? llvm::CodeGenOptLevel::None
                                                  : llvm::CodeGenOptLevel::Less);
  builder.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return take(builder.createTargetMachine());
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine, Tier tier) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass());
  if (tier == Tier::kGood) {
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(
        llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  }
  for (llvm::Function& f : module)
    if (!f.isDeclaration()) passes.run(f, functions);
}

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

int64_t code_size(const llvm::MemoryBuffer& object) {
  auto file = llvm::object::ObjectFile::createObjectFile(object.getMemBufferRef());
  if (!file) {
    llvm::consumeError(file.takeError());
    return 0;
  }
  int64_t bytes = 0;
  for (const auto& section : (*file)->sections())
    if (section.isText() || section.isData()) bytes += static_cast<int64_t>(section.getSize());
  return bytes;
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
  add(#name, static_cast<double (*)(double)>(::name)), \
      add(#name "f", static_cast<float (*)(float)>(::name##f));
#define ARM_BINARY(name)                                       \
  add(#name, static_cast<double (*)(double, double)>(::name)), \
      add(#name "f", static_cast<float (*)(float, float)>(::name##f));
  ARM_UNARY(cbrt)
  ARM_UNARY(exp)
  ARM_UNARY(expm1) ARM_UNARY(log) ARM_UNARY(log1p) ARM_UNARY(sin) ARM_UNARY(cos) ARM_UNARY(tan)
      ARM_UNARY(tanh) ARM_UNARY(erf) ARM_UNARY(asin) ARM_UNARY(acos) ARM_UNARY(atan) ARM_UNARY(sinh)
          ARM_UNARY(cosh) ARM_UNARY(asinh) ARM_UNARY(acosh) ARM_UNARY(atanh) ARM_UNARY(floor) ARM_UNARY(ceil)
              ARM_UNARY(round) ARM_UNARY(roundeven) ARM_UNARY(trunc) ARM_BINARY(fmod) ARM_BINARY(pow)
                  ARM_BINARY(atan2) add("fma", static_cast<double (*)(double, double, double)>(::fma));
  add("fmaf", static_cast<float (*)(float, float, float)>(::fmaf));
#undef ARM_UNARY
#undef ARM_BINARY
  return map;
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

  struct Job {
    const Kernel* kernel;
    std::string key, symbol;
    std::unique_ptr<llvm::MemoryBuffer> object;
    Code code;
  };
  void compile_object(Job& job) const;
};

Jit::Jit() : impl_(std::make_unique<Impl>()) {
  host();
  impl_->jit = take(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(host().builder).create());
  must(impl_->jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(math_symbols(*impl_->jit))));
}

Jit::~Jit() = default;

void Jit::set_ir_dump(IrDump dump) {
  const std::lock_guard lock(impl_->mutex);
  impl_->dump = std::move(dump);
}

// Runs on many threads: each job has an LLVM context of its own.
void Jit::Impl::compile_object(Job& job) const {
  const auto start = Clock::now();
  const Tier tier = tier_of(*job.kernel);
  llvm::LLVMContext context;
  llvm::Module module(job.kernel->name, context);
  auto machine = make_target_machine(tier);
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple());
  emit_kernel(kernels::expand_math(*job.kernel), job.symbol, module, {.vector_bits = host().vector_bits});
  if (dump) dump(job.kernel->name, "emitted", text_of(module));
  std::string mistake;
  llvm::raw_string_ostream mistakes(mistake);
  if (llvm::verifyModule(module, &mistakes)) throw internal_error("kernel {}: {}", job.kernel->name, mistake);
  for (llvm::Function& f : module) f.addFnAttr("prefer-vector-width", std::to_string(host().vector_bits));
  optimize(module, *machine, tier);
  if (dump) dump(job.kernel->name, "optimized", text_of(module));

  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  llvm::MCContext* mc = nullptr;
  if (machine->addPassesToEmitMC(passes, mc, stream)) throw internal_error("LLVM emits no machine code here");
  passes.run(module);
  job.object = std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), job.symbol, false);
  job.code.report = {.name = job.kernel->name,
                     .code_bytes = code_size(*job.object),
                     .compile_seconds = seconds_since(start)};
}

std::vector<RangeFunction> Jit::compile(std::span<const Kernel> kernels, std::vector<KernelReport>* reports) {
  const std::lock_guard lock(impl_->mutex);
  std::vector<std::string> keys;
  std::vector<Impl::Job> jobs;
  std::unordered_map<std::string, int64_t> uses;
  for (const Kernel& k : kernels) {
    keys.push_back(k.structural_key());
    if (uses[keys.back()]++ == 0 && !impl_->codes.contains(keys.back()))
      jobs.push_back({&k, keys.back(), "kernel" + std::to_string(impl_->next_symbol++), nullptr, {}});
  }
  parallel_for(static_cast<int64_t>(jobs.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) impl_->compile_object(jobs[j]);
  });
  for (Impl::Job& job : jobs) must(impl_->jit->addObjectFile(std::move(job.object)));
  for (Impl::Job& job : jobs) {
    job.code.function = take(impl_->jit->lookup(job.symbol)).toPtr<RangeFunction>();
    impl_->codes.emplace(job.key, job.code);
  }
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
