// Writes the code that computes one element of an instruction, through everything that is fused into it.
#pragma once

#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "xla_core/hlo/module.h"
#include "xla_core/kernels/index.h"
#include "xla_core/kernels/lower.h"

namespace armillary::kernels {

// What a lowering is about: a fusion with its body, or one instruction that reads its operands from memory.
class Site {
 public:
  explicit Site(const Instruction& instr);
  const Instruction& instr() const { return instr_; }
  // The roots of the body, one a leaf of the result.
  const std::vector<const Instruction*>& roots() const { return roots_; }
  // The operand number when the instruction's value comes from outside, else -1.
  int64_t input_number(const Instruction* i) const;
  // Everything that the roots need, operands first, inputs included.
  const std::vector<const Instruction*>& body() const { return body_; }

 private:
  void collect(const Instruction* i);
  const Instruction& instr_;
  std::vector<const Instruction*> roots_, body_;
  std::unordered_set<const Instruction*> seen_;
};

// Writes into one kernel. Elements asked for again at the same index are computed once, as long as the first
// is visible.
class Elements {
 public:
  Elements(KernelBuilder& b, const Site& site, Lowering& lowering, std::vector<BufferRef>& buffers);

  Val at(const Instruction* i, const Index& index);
  // All results of a variadic reduce or reduce-window.
  std::vector<Val> all_at(const Instruction* i, const Index& index);
  // From now on, while the present scope is open, `i` has these values at `index`.
  void remember(const Instruction* i, const Index& index, std::vector<Val> values);

  // The kernel's buffer for something outside; made when first asked for.
  int buffer(BufferRef ref, const Shape& shape, bool written = false);
  KernelBuilder& builder() { return b_; }
  const Site& site() const { return site_; }

 private:
  struct Entry {
    std::vector<Val> values;
    int scope;
  };
  using Key = std::pair<const Instruction*, std::vector<int64_t>>;

  std::vector<Val> generate(const Instruction* i, const Index& index);
  Val constant(const Instruction* i, const Index& index);
  Val elementwise(const Instruction* i, const Index& index);
  Val by_recipe(const Instruction* i, const Index& index);
  Val mapped(const Instruction* i, const Index& index);
  Index broadcast_index(const Instruction* i, const Index& index);
  Index transpose_index(const Instruction* i, const Index& index);
  std::vector<Val> reduced(const Instruction* i, const Index& index);
  std::vector<Val> windowed(const Instruction* i, const Index& index);

  KernelBuilder& b_;
  const Site& site_;
  Lowering& lowering_;
  std::vector<BufferRef>& buffers_;
  std::map<Key, Entry> memo_;
};

// Where a window's element lies in an operand's dimension of `size`; kept in range, and *inside (when the
// window reaches out) says whether it was.
Val window_position(KernelBuilder& b, const WindowDim& w, int64_t size, int64_t results, Val result,
                    Val in_window, Val* inside);

// Ops whose element needs no recipe of a row: `elements` knows them.
bool is_reshape_like(const Instruction& i);  // the same elements in the same row-major order
// A literal as a value, when all its elements are the same.
bool is_foldable_constant(const Instruction& i);

}  // namespace armillary::kernels
