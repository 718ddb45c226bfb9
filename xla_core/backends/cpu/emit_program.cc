// From a scheduled module and its buffers to the steps that the runtime walks.
#include <algorithm>

#include "xla_core/backends/cpu/cpu_target.h"
#include "xla_core/backends/cpu/jit.h"
#include "xla_core/backends/cpu/native_step.h"
#include "xla_core/buffers/assign.h"
#include "xla_core/buffers/values.h"
#include "xla_core/kernels/lower.h"
#include "xla_core/program/program.h"

namespace armillary::cpu {
namespace {

constexpr double kTaskWork =
    32768;  // scalar operations that make a task worth handing to another thread: about 10 us

class Emitter {
 public:
  Emitter(const Module& m, const Assignment& assignment, Program& program)
      : module_(m), assignment_(assignment), program_(program) {}

  void run() {
    program_.replica_count = module_.replica_count;
    program_.num_partitions = module_.num_partitions;
    program_.allocations = assignment_.allocations;
    const Computation* entry = module_.entry();
    for (const Instruction* p : entry->parameters()) {
      program_.parameter_shapes.push_back(p->shape());
      for (const Slice& s : slices(p)) program_.parameters.push_back(s);
    }
    program_.result_shape = entry->root()->shape();
    program_.results = assignment_.results;
    scratch_ = static_cast<int32_t>(
        std::find_if(program_.allocations.begin(), program_.allocations.end(), is_temporary) -
        program_.allocations.begin());
    scratch_begin_ = program_.allocations[scratch_].size;
    program_.steps = block(entry);
    copy_leaves(slices(entry->root()), assignment_.results, "results", program_.steps);
    compile_kernels();
    fill_memory_report();
  }

 private:
  static bool is_temporary(const Allocation& a) { return a.kind == Allocation::kTemporary; }
  const std::vector<Slice>& slices(const Instruction* i) const { return assignment_.of(i); }

  std::vector<Step> block(const Computation* c) {
    std::vector<Step> steps;
    for (const Instruction* i : c->instructions()) emit(i, steps);
    return steps;
  }

  void emit(const Instruction* i, std::vector<Step>& steps) {
    if (i->has(kRenames) || i->is(Op::parameter) || i->is(Op::constant)) return;
    switch (i->op()) {
      case Op::while_:
        return emit_while(i, steps);
      case Op::conditional:
        return emit_conditional(i, steps);
      case Op::call: {
        Step step = named(i, Step::kCall);
        step.blocks.push_back(block(i->callees().front()));
        steps.push_back(std::move(step));
        return;
      }
      case Op::copy:
        return copy_leaves(slices(i->operand(0)), slices(i), i->name(), steps);
      default:
        break;
    }
    if (kernels::can_lower(*i)) return emit_kernels(i, steps);
    emit_native(i, steps);
  }

  static Step named(const Instruction* i, Step::Kind kind) {
    Step step;
    step.kind = kind;
    step.name = i->name();
    step.op_name = i->metadata().op_name;
    return step;
  }

  // One copy a leaf, where the two do not share memory.
  static void copy_leaves(const std::vector<Slice>& from, const std::vector<Slice>& to,
                          const std::string& name, std::vector<Step>& steps) {
    for (size_t l = 0; l < from.size(); ++l) {
      if (from[l].allocation < 0 || from[l] == to[l]) continue;
      Step step;
      step.kind = Step::kCopy;
      step.name = "copy for " + name;
      step.buffers = {from[l], to[l]};
      steps.push_back(std::move(step));
    }
  }

  void emit_while(const Instruction* i, std::vector<Step>& steps) {
    const Computation* condition = i->attrs().callee(Attr::condition);
    const Computation* body = i->attrs().callee(Attr::body);
    copy_leaves(slices(i->operand(0)), slices(i), i->name(), steps);
    Step step = named(i, Step::kWhile);
    step.buffers = {slices(condition->root())[0]};
    step.blocks = {block(condition), block(body)};
    copy_leaves(slices(body->root()), slices(i), i->name(), step.blocks[1]);
    steps.push_back(std::move(step));
  }

  void emit_conditional(const Instruction* i, std::vector<Step>& steps) {
    Step step = named(i, Step::kConditional);
    step.buffers = {slices(i->operand(0))[0]};
    step.predicate_is_index = i->operand(0)->dtype() != DType::kPred;
    for (const Computation* branch : i->callees()) {
      step.blocks.push_back(block(branch));
      copy_leaves(slices(branch->root()), slices(i), i->name(), step.blocks.back());
    }
    steps.push_back(std::move(step));
  }

  void emit_kernels(const Instruction* i, std::vector<Step>& steps) {
    const std::vector<Slice>& results = slices(i);
    for (size_t leaf = 0; leaf < results.size(); ++leaf)
      if (auto operand = kernels::in_place_operand(*i, static_cast<int64_t>(leaf)))
        copy_leaves(slices(i->operand(*operand)), {results[leaf]}, i->name(), steps);
    kernels::Lowering lowering = kernels::lower_fusion(*i);
    std::vector<Slice> constants, scratch;
    for (const auto& literal : lowering.constants) constants.push_back(constant_slice(*literal));
    int64_t scratch_bytes = 0;
    for (int64_t bytes : lowering.scratch_bytes) {
      scratch.push_back({scratch_, scratch_begin_ + scratch_bytes, bytes});
      scratch_bytes += (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
    }
    Allocation& arena = program_.allocations[scratch_];
    arena.size = std::max(arena.size, scratch_begin_ + scratch_bytes);
    for (kernels::LoweredKernel& lowered : lowering.kernels) {
      Step step = named(i, Step::kKernel);
      step.extent = lowered.kernel.extent;
      step.grain = std::max<int64_t>(
          1, static_cast<int64_t>(kTaskWork / std::max(1.0, lowered.kernel.work_per_iteration)));
      for (const kernels::BufferRef& ref : lowered.buffers) {
        switch (ref.kind) {
          case kernels::BufferRef::kOperand:
            step.buffers.push_back(slices(i->operand(ref.index))[0]);
            break;
          case kernels::BufferRef::kResult:
            step.buffers.push_back(results[ref.index]);
            break;
          case kernels::BufferRef::kConstant:
            step.buffers.push_back(constants[ref.index]);
            break;
          case kernels::BufferRef::kScratch:
            step.buffers.push_back(scratch[ref.index]);
            break;
        }
      }
      if (step.extent == 0) continue;
      step.kernel = functions_.add(std::move(lowered.kernel));
      steps.push_back(std::move(step));
    }
  }

  void emit_native(const Instruction* i, std::vector<Step>& steps) {
    const std::vector<Slice>& results = slices(i);
    Step step = named(i, Step::kNative);
    for (const Instruction* operand : i->operands())
      step.buffers.insert(step.buffers.end(), slices(operand).begin(), slices(operand).end());
    step.buffers.insert(step.buffers.end(), results.begin(), results.end());
    make_native_step(*i, functions_, step);
    steps.push_back(std::move(step));
  }

  Slice constant_slice(const Literal& literal) {
    program_.allocations.push_back(
        {.kind = Allocation::kConstant, .size = literal.size_bytes(), .constant = literal});
    return {static_cast<int32_t>(program_.allocations.size()) - 1, 0, literal.size_bytes()};
  }

  void compile_kernels() {
    auto jit = std::make_shared<Jit>();
    *functions_.pointers = jit->compile(functions_.kernels, &program_.kernels);
    program_.code = jit;
    bind(program_.steps);
  }

  void bind(std::vector<Step>& steps) {
    for (Step& step : steps) {
      if (step.kernel >= 0) step.function = (*functions_.pointers)[step.kernel];
      for (std::vector<Step>& inner : step.blocks) bind(inner);
    }
  }

  void fill_memory_report() {
    MemoryReport& report = program_.memory;
    for (const Allocation& a : program_.allocations) {
      if (a.kind == Allocation::kParameter) report.argument_bytes += a.size;
      if (a.kind == Allocation::kConstant) report.constant_bytes += a.size;
      if (a.kind == Allocation::kTemporary) report.temporary_bytes += a.size;
      if (a.result >= 0) report.output_bytes += a.size;
      if (a.kind == Allocation::kParameter && a.result >= 0) report.alias_bytes += a.size;
    }
    for (const KernelReport& kernel : program_.kernels) report.code_bytes += kernel.code_bytes;
    report.max_live_bytes = assignment_.max_live_bytes;
  }

  const Module& module_;
  const Assignment& assignment_;
  Program& program_;
  FunctionTable functions_;
  int32_t scratch_ = -1;  // kernels' scratch lies behind the temporaries; one lowering uses it at a time
  int64_t scratch_begin_ = 0;
};

bool can_run(const Instruction& i, std::string* why) {
  switch (i.op()) {
    case Op::while_:
    case Op::conditional:
    case Op::call:
    case Op::copy:
    case Op::parameter:
    case Op::constant:
      return true;
    default:
      return i.has(kRenames) || kernels::can_lower(i, why) || has_native_step(i, why);
  }
}

bool may_share(const Instruction& i, int64_t operand, int64_t leaf) {
  if (i.is(Op::copy)) return true;
  if (kernels::can_lower(i)) return kernels::may_share(i, operand, leaf);
  return native_may_share(i, operand, leaf);
}

bool updates_in_place(const Instruction& i, int64_t operand, int64_t leaf) {
  if (kernels::can_lower(i)) return kernels::in_place_operand(i, leaf) == operand;
  return native_may_share(i, operand, leaf);
}

void emit(const Module& m, const Assignment& assignment, const Machine*, Program& program) {
  Emitter(m, assignment, program).run();
}

}  // namespace

const Target& target() {
  static const Target cpu{.name = "cpu",
                          .doc = "Native code on the cores of this machine.",
                          .can_run = can_run,
                          .may_share = may_share,
                          .updates_in_place = updates_in_place,
                          .emit = emit};
  return cpu;
}

}  // namespace armillary::cpu
