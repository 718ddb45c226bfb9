#include "xla_core/backends/tpu/sharing.h"

#include "xla_core/backends/tpu/tiled.h"
#include "xla_core/fusion/fusible.h"
#include "xla_core/hlo/module.h"

namespace armillary::tpu {
namespace {

const Instruction* root_of_leaf(const Instruction& fusion, int64_t leaf) {
  const Instruction* root = fusion.callees()[0]->root();
  return root->is(Op::tuple) ? root->operand(leaf) : root;
}

// Everything on the way from the parameter to the roots reads it where it writes.
bool is_read_in_place(const Instruction& i, int depth) {
  if (depth == 0) return false;
  for (const Instruction* user : i.users()) {
    if (user->is(Op::tuple)) continue;
    for (int64_t k = 0; k < user->num_operands(); ++k)
      if (user->operand(k) == &i && !reads_same_index(*user, k)) return false;
    if (!is_read_in_place(*user, depth - 1)) return false;
  }
  return true;
}

constexpr int kDeepest = 24;

}  // namespace

int64_t updated_operand(const Instruction& i, int64_t leaf) {
  if (i.is(Op::dynamic_update_slice)) return 0;
  if (i.is(Op::scatter)) return leaf;
  if (!i.is(Op::fusion)) return -1;
  const Instruction* root = root_of_leaf(i, leaf);
  const bool updates = root->is(Op::dynamic_update_slice) && root->operand(0)->is(Op::parameter);
  return updates ? root->operand(0)->parameter_number() : -1;
}

bool may_share(const Instruction& i, int64_t operand, int64_t leaf) {
  if (updated_operand(i, leaf) == operand || i.is(Op::copy)) return true;
  const Shape &from = i.operand(operand)->shape(), &to = *leaves_of(i.shape())[leaf];
  if (!from.is_array() || tiled_bytes(from) != tiled_bytes(to)) return false;
  if (!i.is(Op::fusion)) return i.has(kElementwise) && reads_same_index(i, operand);
  return is_read_in_place(*i.callees()[0]->parameter(operand), kDeepest);
}

}  // namespace armillary::tpu
