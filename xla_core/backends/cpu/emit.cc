// Control flow and memory of a kernel as LLVM IR.
#include "xla_core/backends/cpu/emit.h"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Intrinsics.h>

#include "xla_core/backends/cpu/emitter.h"
#include "xla_core/base/error.h"

namespace armillary::cpu {

Emitter::Emitter(const Kernel& kernel, llvm::Module& module, const EmitOptions& options)
    : kernel_(kernel),
      nodes_(kernel.body.nodes),
      module_(module),
      context_(module.getContext()),
      options_(options),
      b_(context_),
      values_(kernel.body.nodes.size(), nullptr),
      ends_(matching_ends(kernel.body)) {}

llvm::BasicBlock* Emitter::new_block(const char* name) {
  return llvm::BasicBlock::Create(context_, name, function_);
}

void Emitter::emit(const std::string& symbol) {
  Type* i64 = b_.getInt64Ty();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), i64, i64}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module_);
  function_->setDoesNotThrow();
  function_->addParamAttr(0, llvm::Attribute::NoAlias);
  b_.SetInsertPoint(new_block("entry"));
  for (size_t k = 0; k < kernel_.buffers.size(); ++k) {
    buffers_.push_back(
        load(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getPtrTy(), function_->getArg(0), k), 8, true));
  }
  for (const KernelBuffer& local : kernel_.locals) {
    auto* slot =
        b_.CreateAlloca(llvm::ArrayType::get(b_.getInt8Ty(), local.elements * byte_size(local.dtype)));
    slot->setAlignment(llvm::Align(64));
    locals_.push_back(slot);
  }
  emit_rounds(function_->getArg(1), function_->getArg(2), 1, [&](Value* outer) {
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].prim == Prim::kIndex) values_[i] = outer;
    emit_range(0, static_cast<int>(nodes_.size()));
  });
  b_.CreateRetVoid();
}

void Emitter::emit_rounds(Value* start, Value* end, int64_t step, const std::function<void(Value*)>& body) {
  auto* first = llvm::dyn_cast<llvm::ConstantInt>(start);
  auto* last = llvm::dyn_cast<llvm::ConstantInt>(end);
  const bool known = first && last;
  if (known && first->getSExtValue() >= last->getSExtValue()) return;
  if (known && first->getSExtValue() + step >= last->getSExtValue()) return body(start);

  auto* before = b_.GetInsertBlock();
  auto* header = new_block("loop");
  auto* after = new_block("done");
  if (known) {
    b_.CreateBr(header);
  } else {
    auto* preheader = new_block("enter");
    b_.CreateCondBr(b_.CreateICmpSLT(start, end), preheader, after);
    b_.SetInsertPoint(preheader);
    b_.CreateBr(header);
    before = preheader;
  }
  b_.SetInsertPoint(header);
  auto* iv = b_.CreatePHI(b_.getInt64Ty(), 2, "i");
  iv->addIncoming(start, before);
  body(iv);
  Value* next = b_.CreateAdd(iv, b_.getInt64(step), "", true, true);
  iv->addIncoming(next, b_.GetInsertBlock());
  auto* exit = new_block("exit");
  b_.CreateCondBr(b_.CreateICmpSLT(next, end), header, exit);
  b_.SetInsertPoint(exit);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void Emitter::emit_range(int begin, int end) {
  for (int i = begin; i < end;) {
    switch (nodes_[i].prim) {
      case Prim::kIfBegin:
        i = emit_if(i);
        break;
      case Prim::kLoopBegin:
        i = nodes_[i].part == 1 && lanes_ == 1 ? emit_lane_loop(i) : emit_loop(i);
        break;
      default:
        emit_node(i++);
    }
  }
}

void Emitter::emit_node(int i) {
  const TapeNode& n = nodes_[i];
  switch (n.prim) {
    case Prim::kIndex:
      return;
    case Prim::kLoad:
      return emit_load(i);
    case Prim::kStore:
      return emit_store(i);
    default:
      values_[i] = emit_prim(i);
  }
}

int Emitter::emit_if(int i) {
  const int end = ends_[i];
  int otherwise = end;
  for (int k = i + 1; k < end; ++k) {
    if (ends_[k] >= 0)
      k = ends_[k];
    else if (nodes_[k].prim == Prim::kElse)
      otherwise = k;
  }
  auto* then_block = new_block("then");
  auto* after = new_block("endif");
  auto* else_block = otherwise < end ? new_block("else") : after;
  b_.CreateCondBr(raw(nodes_[i].a), then_block, else_block);
  b_.SetInsertPoint(then_block);
  emit_range(i + 1, otherwise);
  b_.CreateBr(after);
  if (otherwise < end) {
    b_.SetInsertPoint(else_block);
    emit_range(otherwise + 1, end);
    b_.CreateBr(after);
  }
  b_.SetInsertPoint(after);
  return end + 1;
}

int Emitter::emit_loop(int i) {
  const int end = ends_[i];
  int body = i + 1;
  while (nodes_[body].prim == Prim::kCarry) ++body;
  const int num_carries = body - i - 1;
  auto varying = [&](int k) { return kind(i + 1 + k).kind == LaneKind::kVarying; };
  auto initial = [&](int k) { return value(nodes_[i + 1 + k].a, varying(k)); };
  auto next = [&](int k) { return value(nodes_[end + 1 + k].b, varying(k)); };

  Value* extent = nodes_[i].a >= 0 ? raw(nodes_[i].a) : b_.getInt64(nodes_[i].imm);
  std::vector<Value*> first(num_carries), last(num_carries);
  for (int k = 0; k < num_carries; ++k) first[k] = last[k] = initial(k);
  auto* before = b_.GetInsertBlock();
  llvm::BasicBlock* latch = nullptr;
  emit_rounds(b_.getInt64(0), extent, 1, [&](Value* iv) {
    values_[i] = iv;
    auto* phi_iv = llvm::dyn_cast<llvm::PHINode>(iv);  // a single round has none
    std::vector<llvm::PHINode*> phis(num_carries, nullptr);
    for (int k = 0; k < num_carries; ++k) {
      if (phi_iv) {
        phis[k] = b_.CreatePHI(first[k]->getType(), 2);
        phis[k]->addIncoming(first[k], phi_iv->getIncomingBlock(0));
      }
      values_[i + 1 + k] = phi_iv ? static_cast<Value*>(phis[k]) : first[k];
    }
    emit_range(body, end);
    for (int k = 0; k < num_carries; ++k) last[k] = next(k);
    latch = b_.GetInsertBlock();
    for (int k = 0; k < num_carries; ++k)
      if (phi_iv) phis[k]->addIncoming(last[k], latch);
  });
  // A loop whose extent is not known may run no round at all: emit_rounds then leaves `before` straight to
  // where we are.
  const bool may_skip = latch && !llvm::isa<llvm::ConstantInt>(extent);
  for (int k = 0; k < num_carries; ++k) {
    Value* result = last[k];
    if (may_skip) {
      auto* phi = b_.CreatePHI(first[k]->getType(), 2);
      phi->addIncoming(first[k], before);
      for (auto* from : llvm::predecessors(b_.GetInsertBlock()))
        if (from != before) phi->addIncoming(last[k], from);
      result = phi;
    }
    values_[end + 1 + k] = result;
  }
  return end + 1 + num_carries;
}

int Emitter::emit_lane_loop(int i) {
  const LanePlan plan = plan_lanes(kernel_, i, ends_[i], options_.vector_bits);
  if (plan.lanes <= 1) return emit_loop(i);
  plan_ = &plan;
  lanes_ = plan.lanes;
  Value* extent = nodes_[i].a >= 0 ? raw(nodes_[i].a) : b_.getInt64(nodes_[i].imm);
  emit_rounds(b_.getInt64(0), extent, lanes_, [&](Value* base) { emit_lane_body(i, base, extent); });
  plan_ = nullptr;
  lanes_ = 1;
  active_ = full_ = nullptr;
  return ends_[i] + 1;
}

void Emitter::emit_lane_body(int i, Value* base, Value* extent) {
  const bool always_full = nodes_[i].a < 0 && nodes_[i].imm % lanes_ == 0;
  if (!always_full) {
    Value* remaining = b_.CreateSub(extent, base);
    full_ = b_.CreateICmpSGE(remaining, b_.getInt64(lanes_));
    active_ = b_.CreateSelect(full_, b_.getInt64(lanes_), remaining);
  }
  values_[i] = base;
  emit_range(i + 1, ends_[i]);
}

llvm::Value* Emitter::lane_numbers(bool clamped) {
  std::vector<llvm::Constant*> numbers;
  for (int l = 0; l < lanes_; ++l) numbers.push_back(b_.getInt64(l));
  Value* all = llvm::ConstantVector::get(numbers);
  if (!clamped || !active_) return all;
  Value* last = b_.CreateVectorSplat(lanes_, b_.CreateSub(active_, b_.getInt64(1)));
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, all, last);
}

llvm::Value* Emitter::value(int node, bool vector) {
  Value* v = values_[node];
  const LaneKind k = kind(node);
  if (!vector || k.kind == LaneKind::kVarying) return v;
  Value* splat = b_.CreateVectorSplat(lanes_, v);
  if (k.kind == LaneKind::kUniform) return splat;
  Value* stride = b_.CreateVectorSplat(lanes_, b_.getInt64(k.stride));
  return b_.CreateAdd(splat, b_.CreateMul(lane_numbers(true), stride));
}

void emit_kernel(const Kernel& kernel, const std::string& symbol, llvm::Module& module,
                 const EmitOptions& options) {
  Emitter(kernel, module, options).emit(symbol);
}

}  // namespace armillary::cpu
