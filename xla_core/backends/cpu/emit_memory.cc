// Loads and stores, of one element or of a vector of lanes.
#include "xla_core/backends/cpu/emitter.h"
#include "xla_core/base/error.h"

namespace armillary::cpu {
namespace {

// The vector's elements first, first + step, first + 2 step, ...
llvm::SmallVector<int> every(int step, int first, int count) {
  llvm::SmallVector<int> mask;
  for (int i = 0; i < count; ++i) mask.push_back(first + i * step);
  return mask;
}

// 0, n, 1, n + 1, ...: two vectors of n elements, interleaved.
llvm::SmallVector<int> interleaved(int n) {
  llvm::SmallVector<int> mask;
  for (int i = 0; i < n; ++i) mask.append({i, n + i});
  return mask;
}

}  // namespace

const KernelBuffer& Emitter::buffer(const TapeNode& access) const {
  return access.imm < 0 ? kernel_.locals[-1 - access.imm] : kernel_.buffers[access.imm];
}

llvm::LoadInst* Emitter::load(Type* type, Value* from, int64_t align, bool invariant) {
  auto* l = b_.CreateAlignedLoad(type, from, llvm::Align(align));
  // Nobody writes such memory while the kernel runs, so the load may be moved out of loops.
  if (invariant) l->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
  return l;
}

llvm::Value* Emitter::element_address(const TapeNode& access, Value* index) {
  Value* base = access.imm < 0 ? locals_[-1 - access.imm] : buffers_[access.imm];
  if (is_complex(buffer(access).dtype)) index = b_.CreateShl(index, splat_int(index, 1, 64));
  return b_.CreateGEP(memory_type(access.dtype), base, index);
}

void Emitter::emit_load(int i) {
  const TapeNode& n = nodes_[i];
  Type* type = memory_type(n.dtype);
  const int64_t size = byte_size(n.dtype);
  const KernelBuffer& from = buffer(n);
  const bool invariant = n.imm >= 0 && !from.written && !from.may_share;
  if (lanes_ > 1 && kind(i).kind == LaneKind::kVarying) {
    if (kind(n.a) == LaneKind{LaneKind::kStrided, 1}) {
      values_[i] = from_memory(n.dtype, load_adjacent(n));
      return;
    }
    Value* from_where = element_address(n, value(n.a, true));
    if (n.part) from_where = b_.CreateGEP(type, from_where, b_.getInt64(1));
    Value* v = b_.CreateMaskedGather(llvm::FixedVectorType::get(type, lanes_), from_where, llvm::Align(size));
    values_[i] = from_memory(n.dtype, v);
    return;
  }
  Value* from_where = element_address(n, raw(n.a));
  if (n.part) from_where = b_.CreateGEP(type, from_where, b_.getInt64(1));
  values_[i] = from_memory(n.dtype, load(type, from_where, size, invariant));
}

llvm::Value* Emitter::load_adjacent(const TapeNode& n) {
  const KernelBuffer& from = buffer(n);
  const bool pair = is_complex(from.dtype);
  auto* vector = llvm::FixedVectorType::get(memory_type(n.dtype), pair ? 2 * lanes_ : lanes_);
  const bool invariant = n.imm >= 0 && !from.written && !from.may_share;
  Value* v = load_block(vector, element_address(n, raw(n.a)), byte_size(from.dtype), invariant);
  return pair ? b_.CreateShuffleVector(v, every(2, n.part, lanes_)) : v;
}

llvm::Value* Emitter::live_lanes(int copies) {
  std::vector<llvm::Constant*> numbers;
  for (int l = 0; l < lanes_ * copies; ++l) numbers.push_back(b_.getInt32(l / copies));
  Value* count = b_.CreateTrunc(active_, b_.getInt32Ty());
  return b_.CreateICmpULT(llvm::ConstantVector::get(numbers), b_.CreateVectorSplat(lanes_ * copies, count));
}

// When only some lanes are live and the machine has no masks, these are first copied to a place where all
// lanes can be read.
llvm::Value* Emitter::load_block(Type* vector, Value* from, int64_t element_bytes, bool invariant) {
  const int64_t align = vector->getScalarSizeInBits() / 8;
  if (!full_) return load(vector, from, align, invariant);
  if (options_.masks) {
    const int count = llvm::cast<llvm::FixedVectorType>(vector)->getNumElements();
    return b_.CreateMaskedLoad(vector, from, llvm::Align(align), live_lanes(count / lanes_),
                               llvm::Constant::getNullValue(vector));
  }
  Value* copy = lane_buffer(vector);
  auto* whole = b_.GetInsertBlock();
  auto* partial = new_block("partial");
  auto* ready = new_block("ready");
  b_.CreateCondBr(full_, ready, partial);
  b_.SetInsertPoint(partial);
  b_.CreateStore(llvm::Constant::getNullValue(vector), copy);
  b_.CreateMemCpy(copy, llvm::Align(64), from, llvm::Align(align),
                  b_.CreateMul(active_, b_.getInt64(element_bytes)));
  b_.CreateBr(ready);
  b_.SetInsertPoint(ready);
  auto* where = b_.CreatePHI(b_.getPtrTy(), 2);
  where->addIncoming(from, whole);
  where->addIncoming(copy, partial);
  return load(vector, where, align, false);
}

void Emitter::emit_store(int i) {
  const TapeNode& n = nodes_[i];
  Type* type = memory_type(n.dtype);
  const int64_t size = byte_size(n.dtype);
  const bool lanes = lanes_ > 1;
  if (lanes && kind(n.a) == LaneKind{LaneKind::kStrided, 1})
    return store_adjacent(n, to_memory(n.dtype, value(n.b, true)));
  Value* to = element_address(n, lanes ? value(n.a, true) : raw(n.a));
  if (n.part) to = b_.CreateGEP(type, to, b_.getInt64(1));
  Value* x = to_memory(n.dtype, value(n.b, lanes));
  if (!lanes) {
    b_.CreateAlignedStore(x, to, llvm::Align(size));
    return;
  }
  Value* live = active_ ? live_lanes(1) : nullptr;
  b_.CreateMaskedScatter(x, to, llvm::Align(size), live);
}

// The two parts of a complex value come one after the other: the first is kept until the second is here.
void Emitter::store_adjacent(const TapeNode& n, Value* x) {
  const bool pair = is_complex(buffer(n).dtype);
  if (pair && n.part == 0) {
    real_part_ = x;
    return;
  }
  if (pair) x = b_.CreateShuffleVector(real_part_, x, interleaved(lanes_));
  store_block(x, element_address(n, raw(n.a)), byte_size(buffer(n).dtype));
}

void Emitter::store_block(Value* x, Value* to, int64_t element_bytes) {
  const llvm::Align align(x->getType()->getScalarSizeInBits() / 8);
  if (!full_) {
    b_.CreateAlignedStore(x, to, align);
    return;
  }
  if (options_.masks) {
    const int count = llvm::cast<llvm::FixedVectorType>(x->getType())->getNumElements();
    b_.CreateMaskedStore(x, to, align, live_lanes(count / lanes_));
    return;
  }
  Value* copy = lane_buffer(x->getType());
  b_.CreateAlignedStore(x, b_.CreateSelect(full_, to, copy), align);
  auto* partial = new_block("partial");
  auto* ready = new_block("ready");
  b_.CreateCondBr(full_, ready, partial);
  b_.SetInsertPoint(partial);
  b_.CreateMemCpy(to, align, copy, llvm::Align(64), b_.CreateMul(active_, b_.getInt64(element_bytes)));
  b_.CreateBr(ready);
  b_.SetInsertPoint(ready);
}

llvm::Value* Emitter::lane_buffer(Type* vector) {
  llvm::AllocaInst*& slot = lane_buffers_[vector];
  if (!slot) {
    auto& entry = function_->getEntryBlock();
    slot = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(vector);
    slot->setAlignment(llvm::Align(64));
  }
  return slot;
}

}  // namespace armillary::cpu
