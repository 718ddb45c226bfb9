#include "xla_core/backends/cpu/object_code.h"

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Object/SymbolSize.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>

#include <algorithm>

#include "xla_core/backends/cpu/emit.h"
#include "xla_core/base/error.h"
#include "xla_core/base/flags.h"
#include "xla_core/kernels/math.h"

namespace armillary::cpu {
namespace {

template <class T>
T take(llvm::Expected<T> value) {
  if (!value) throw internal_error("LLVM: {}", llvm::toString(value.takeError()));
  return std::move(*value);
}

struct Host {
  llvm::orc::JITTargetMachineBuilder builder;
  EmitOptions emit;
};

// The machine we run on, or, by flag, what it would be with narrower vectors.
Host make_host(int64_t most_vector_bits) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto builder = take(llvm::orc::JITTargetMachineBuilder::detectHost());
  const auto features = llvm::sys::getHostCPUFeatures();
  const auto has = [&](std::initializer_list<const char*> names) {
    return std::all_of(names.begin(), names.end(), [&](const char* name) { return features.lookup(name); });
  };
  const bool any_width = most_vector_bits == 0;
  const bool wide =
      (any_width || most_vector_bits >= 512) && has({"avx512f", "avx512bw", "avx512dq", "avx512vl"});
  const bool avx2 = (any_width || most_vector_bits >= 256) && has({"avx2", "fma", "f16c"});
  if (!wide) builder.addFeatures({"-avx512f"});
  if (!avx2) builder.addFeatures({"-avx"});
  return {std::move(builder),
          {.vector_bits = wide   ? 512
                          : avx2 ? 256
                                 : 128,
           .masks = wide,
           .half_floats = avx2}};
}

const Host& host() {
  static const Host h = make_host(flags().vector_bits);
  return h;
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
    passes.addPass(
        llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  }
  for (llvm::Function& f : module)
    if (!f.isDeclaration()) passes.run(f, functions);
}

std::string text_of(const llvm::Function& function) {
  std::string text;
  llvm::raw_string_ostream(text) << function;
  return text;
}

// Of the functions called `symbols`.
std::vector<int64_t> code_sizes(const llvm::MemoryBuffer& object, std::span<const std::string> symbols) {
  std::vector<int64_t> sizes(symbols.size());
  auto file = take(llvm::object::ObjectFile::createObjectFile(object.getMemBufferRef()));
  for (const auto& [symbol, size] : llvm::object::computeSymbolSizes(*file)) {
    auto name = symbol.getName();
    if (!name) {
      llvm::consumeError(name.takeError());
      continue;
    }
    for (size_t k = 0; k < symbols.size(); ++k)
      if (*name == symbols[k]) sizes[k] = static_cast<int64_t>(size);
  }
  return sizes;
}

std::unique_ptr<llvm::MemoryBuffer> generate(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  llvm::MCContext* context = nullptr;
  if (machine.addPassesToEmitMC(passes, context, stream))
    throw internal_error("LLVM emits no machine code here");
  passes.run(module);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), module.getName(), false);
}

}  // namespace

ObjectCode::ObjectCode() = default;
ObjectCode::ObjectCode(ObjectCode&&) noexcept = default;
ObjectCode& ObjectCode::operator=(ObjectCode&&) noexcept = default;
ObjectCode::~ObjectCode() = default;

const llvm::orc::JITTargetMachineBuilder& host_machine() { return host().builder; }

Tier tier_of(const Kernel& k) {
  constexpr double kFewOperations = 50'000;
  return static_cast<double>(k.extent) * k.work_per_iteration < kFewOperations ? Tier::kQuick : Tier::kGood;
}

ObjectCode compile_object(std::span<const Kernel* const> kernels, std::span<const std::string> symbols,
                          Tier tier, const IrDump& dump) {
  llvm::LLVMContext context;
  llvm::Module module(symbols[0], context);
  auto machine = make_target_machine(tier);
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple());
  for (size_t k = 0; k < kernels.size(); ++k)
    emit_kernel(kernels::expand_math(*kernels[k]), symbols[k], module, host().emit);
  const std::string width = std::to_string(host().emit.vector_bits);
  for (llvm::Function& f : module) f.addFnAttr("prefer-vector-width", width);
  std::string mistake;
  llvm::raw_string_ostream mistakes(mistake);
  if (llvm::verifyModule(module, &mistakes)) throw internal_error("kernel {}: {}", kernels[0]->name, mistake);
  const auto show = [&](const char* stage) {
    for (size_t k = 0; dump && k < kernels.size(); ++k)
      dump(kernels[k]->name, stage, text_of(*module.getFunction(symbols[k])));
  };
  show("emitted");
  optimize(module, *machine, tier);
  show("optimized");
  ObjectCode code;
  code.object = generate(module, *machine);
  code.code_bytes = code_sizes(*code.object, symbols);
  return code;
}

}  // namespace armillary::cpu
