#include <algorithm>

#include "xla_core/kernels/elements.h"

namespace armillary::kernels {

Site::Site(const Instruction& instr) : instr_(instr) {
  const Instruction* root = instr.is(Op::fusion) ? instr.callees().at(0)->root() : &instr;
  if (root->is(Op::tuple))
    roots_.assign(root->operands().begin(), root->operands().end());
  else if (root->shape().is_tuple())
    roots_.assign(root->shape().tuple.size(), root);  // a variadic reduce: leaf k is its result k
  else
    roots_ = {root};
  for (const Instruction* r : roots_) collect(r);
}

// Chains of instructions may be long: no recursion.
void Site::collect(const Instruction* root) {
  std::vector<std::pair<const Instruction*, int64_t>> stack = {{root, 0}};
  while (!stack.empty()) {
    auto& [i, next] = stack.back();
    const bool leaf = input_number(i) >= 0;
    if (!leaf && next < i->num_operands()) {
      const Instruction* operand = i->operand(next++);
      if (!seen_.contains(operand)) stack.push_back({operand, 0});
      continue;
    }
    if (seen_.insert(i).second) body_.push_back(i);
    stack.pop_back();
  }
}

int64_t Site::input_number(const Instruction* i) const {
  if (instr_.is(Op::fusion)) return i->is(Op::parameter) ? i->parameter_number() : -1;
  if (i == &instr_ || (i->is(Op::constant) && is_foldable_constant(*i))) return -1;
  const auto operands = instr_.operands();
  const auto found = std::ranges::find(operands, i);
  return found == operands.end() ? -1 : found - operands.begin();
}

}  // namespace armillary::kernels
