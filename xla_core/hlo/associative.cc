#include "xla_core/hlo/associative.h"

namespace armillary {
namespace {

constexpr int kDeepest = 4;  // choices within choices that are looked through

// One of the two, whatever decides which.
bool chooses(const Instruction* value, const Instruction* a, const Instruction* b, int depth = 0) {
  if (value == a || value == b) return true;
  if (depth > kDeepest) return false;
  const auto operand_chooses = [&](int64_t k) { return chooses(value->operand(k), a, b, depth + 1); };
  if (value->is(Op::select)) return operand_chooses(1) && operand_chooses(2);
  return (value->is(Op::minimum) || value->is(Op::maximum)) && operand_chooses(0) && operand_chooses(1);
}

}  // namespace

bool is_monoid(const Instruction* value, const Instruction* a, const Instruction* b) {
  if (!value->def().identity || value->num_operands() != 2) return false;
  const Instruction *x = value->operand(0), *y = value->operand(1);
  return (x == a && y == b) || (x == b && y == a);
}

bool associates(const Computation& combiner) {
  const Instruction* root = combiner.root();
  const auto& parameters = combiner.parameters();
  const size_t count = parameters.size() / 2;
  for (size_t k = 0; k < count; ++k) {
    const Instruction* value = root->is(Op::tuple) ? root->operand(static_cast<int64_t>(k)) : root;
    const Instruction *a = parameters[k], *b = parameters[count + k];
    if (!is_monoid(value, a, b) && !chooses(value, a, b)) return false;
  }
  return true;
}

}  // namespace armillary
