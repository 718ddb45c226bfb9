// Writes kernels: a TapeBuilder that knows loops, branches and memory.
#pragma once

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "xla_core/kernels/kernel.h"

namespace armillary::kernels {

class KernelBuilder : public TapeBuilder {
 public:
  explicit KernelBuilder(Kernel& kernel) : TapeBuilder(kernel.body), kernel_(kernel) {}
  Kernel& kernel() { return kernel_; }

  // Buffers are numbered in the order they are added.
  int add_buffer(DType dtype, int64_t elements, bool written);
  int add_local(DType dtype, int64_t elements);  // a negative number, for load_at and store_at

  Val outer_index();                    // kIndex 0
  Val load_at(int buffer, Val linear);  // narrow and complex types too
  void store_at(int buffer, Val linear, Val value);

  // for (i = 0; i < extent; ++i) carried = body(i, carried); returns the values after the loop. `extent` may
  // be computed, `bound` is its maximum.
  using LoopBody = std::function<std::vector<Val>(Val index, std::span<const Val> carried)>;
  std::vector<Val> loop(int64_t extent, std::span<const Val> initial, const LoopBody& body);
  std::vector<Val> loop(Val extent, int64_t bound, std::span<const Val> initial, const LoopBody& body);
  // Independent rounds; see kernel.h.
  void lane_loop(int64_t extent, const std::function<void(Val index)>& body);
  void lane_loop(Val extent, int64_t bound, const std::function<void(Val index)>& body);
  void if_then(Val pred, const std::function<void()>& then, const std::function<void()>& otherwise = nullptr);

  // A recipe's b.load(operand, ...) goes to the loader on top of the stack.
  using Loader = std::function<Val(int operand, std::span<const int64_t> dims, std::span<const Val> index)>;
  Val load(int operand, DType dtype, std::span<const int64_t> dims, std::span<const Val> index) override;
  Val with_loader(const Loader& loader, const std::function<Val()>& recipe);

  // Values computed inside a loop or branch are not visible outside: scope numbers tell who sees whom. A new
  // one opens with each loop body and branch; `scope_open(s)` says whether the values of scope s may be used
  // here.
  int scope() const { return scopes_.back().number; }
  bool scope_open(int scope) const;

  // The same pure node twice is one node, as long as the first is visible.
  int32_t push(TapeNode node) override;

 private:
  struct NodeHash {
    size_t operator()(const TapeNode& n) const;
  };
  struct Scope {
    int number = 0;
    std::unordered_map<TapeNode, int32_t, NodeHash> seen;
  };
  bool is_pure(const TapeNode& n) const;
  DType buffer_dtype(int buffer) const;
  void open_scope() { scopes_.push_back({next_scope_++, {}}); }
  void close_scope() { scopes_.pop_back(); }

  Kernel& kernel_;
  std::vector<const Loader*> loaders_;
  std::vector<Scope> scopes_ = std::vector<Scope>(1);
  int next_scope_ = 1;
};

}  // namespace armillary::kernels
