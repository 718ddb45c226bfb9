// The state of emitting one kernel, shared by the emit*.cc files.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <string>
#include <vector>

#include "xla_core/backends/cpu/emit.h"
#include "xla_core/backends/cpu/lanes.h"

namespace armillary::cpu {

// Code is scalar outside lane loops. Inside one, a node is uniform (one scalar for all lanes), strided (base
// + lane * stride: only the base is computed) or varying (a vector); see lanes.h.
class Emitter {
 public:
  Emitter(const Kernel& kernel, llvm::Module& module, const EmitOptions& options);
  void emit(const std::string& symbol);

 private:
  using Value = llvm::Value;
  using Type = llvm::Type;

  // emit.cc: control and memory.
  void emit_range(int begin, int end);
  int emit_if(int i);  // these return the node after the construct
  int emit_loop(int i);
  int emit_lane_loop(int i);
  void emit_lane_body(int i, Value* base, Value* extent);
  // for (iv = start; iv < end; iv += step) body(iv)
  void emit_rounds(Value* start, Value* end, int64_t step, const std::function<void(Value*)>& body);
  void emit_node(int i);
  void emit_load(int i);
  void emit_store(int i);
  const KernelBuffer& buffer(const TapeNode& access) const;
  // Of the element's first part; `index` may be a vector.
  Value* element_address(const TapeNode& access, Value* index);
  Value* load_adjacent(const TapeNode& n);
  void store_adjacent(const TapeNode& n, Value* x);
  Value* load_block(Type* vector, Value* from, int64_t element_bytes, bool invariant);
  void store_block(Value* x, Value* to, int64_t element_bytes);
  Value* live_lanes(int copies);  // i1 a lane, each `copies` times
  Value* lane_buffer(Type* vector);
  llvm::LoadInst* load(Type* type, Value* from, int64_t align, bool invariant);
  Value* lane_numbers(bool clamped);  // <0, 1, ...> (s64); clamped: dead lanes repeat the last live one
  llvm::BasicBlock* new_block(const char* name);

  // The scalar of a uniform node, the base of a strided one, the vector of a varying one.
  Value* raw(int node) const { return values_[node]; }
  // The node as a vector inside a lane loop if `vector`, else its scalar.
  Value* value(int node, bool vector);
  LaneKind kind(int node) const { return lanes_ == 1 ? LaneKind{} : plan_->kinds[node]; }

  // emit_prim.cc: arithmetic on scalars or vectors of one type.
  Value* emit_prim(int i);
  Value* constant(const TapeNode& n);
  Value* unary(const TapeNode& n, Value* a);
  Value* binary(const TapeNode& n, Value* a, Value* b);
  Value* min_max(const TapeNode& n, Value* a, Value* b);
  Value* integer_divide(DType d, Value* a, Value* b, bool remainder);
  Value* shift(Prim prim, Value* a, Value* b);
  Value* multiply_high(DType d, Value* a, Value* b);
  Value* sign(DType d, Value* a);
  Value* call_math(const TapeNode& n, Value* a, Value* b);
  Value* call_math_where(const TapeNode& n, Value* a, Value* where);

  // emit_convert.cc
  Value* convert(DType from, DType to, Value* x);
  Value* to_wide(DType from, Value* x);  // narrow float -> f32
  Value* from_wide(DType to, Value* x);  // f32 -> narrow float
  Value* round_to_odd(Value* x);         // f64 -> f32, so that rounding again rounds right
  Value* decode_small(const DTypeInfo& f, Value* x);
  Value* encode_small(const DTypeInfo& f, Value* x);
  Value* decode_e8m0(Value* x);
  Value* encode_e8m0(Value* x);
  Value* float_to_int(DType to, Value* x);
  Value* int_to_int(DType from, DType to, Value* x);
  Value* bitcast(DType from, DType to, Value* x);

  Type* scalar_type(DType d) const;  // in registers
  Type* memory_type(DType d) const;
  Type* like(Type* scalar, Value* x) const;              // vector if x is one
  Value* splat_int(Value* x, uint64_t bits, int width);  // constant shaped like x
  Value* splat_float(Value* x, double value);
  Value* to_memory(DType d, Value* x);
  Value* from_memory(DType d, Value* x);

  const Kernel& kernel_;
  const std::vector<TapeNode>& nodes_;
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  EmitOptions options_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  std::vector<Value*> values_;
  std::vector<Value*> buffers_, locals_;
  std::vector<int> ends_;  // of loops and ifs: the matching end node
  // Inside a lane loop:
  const LanePlan* plan_ = nullptr;
  int lanes_ = 1;
  Value* active_ = nullptr;     // how many lanes count (i64); nullptr: all of them, always
  Value* full_ = nullptr;       // i1: all of them do
  Value* real_part_ = nullptr;  // of a complex store that waits for its imaginary part
  llvm::DenseMap<Type*, llvm::AllocaInst*> lane_buffers_;
};

}  // namespace armillary::cpu
