#include "xla_core/passes/match.h"

#include <cmath>

namespace armillary {

const Literal* scalar_behind(const Instruction& i) {
  const Instruction* at = i.is(Op::broadcast) ? i.operand(0) : &i;
  return at->is(Op::constant) && at->shape().is_scalar() && !at->literal().elided() ? &at->literal()
                                                                                    : nullptr;
}

bool is_number(const Instruction& i, double value) {
  const Literal* literal = scalar_behind(i);
  if (!literal) return false;
  if (is_integral(literal->dtype()))
    return static_cast<double>(literal->get_int(0)) == value && !std::signbit(value == 0 ? value : 0.0);
  if (is_complex(literal->dtype()))
    return false;  // arithmetic on complex numbers has no simple neutral elements
  double x = literal->get_double(0);
  return x == value && std::signbit(x) == std::signbit(value);
}

bool Match::try_operands(const Pat& pat, Instruction* i, bool swapped) {
  auto before = bound_;
  for (size_t n = 0; n < pat.in.size(); ++n) {
    if (try_bind(pat.in[n], i->operand(static_cast<int64_t>(swapped ? 1 - n : n)))) continue;
    bound_ = before;
    return false;
  }
  return true;
}

bool Match::try_bind(const Pat& pat, Instruction* i) {
  switch (pat.kind) {
    case Pat::kAny:
      break;
    case Pat::kNumber:
      return is_number(*i, pat.number);
    case Pat::kSplat:
      if (!scalar_behind(*i)) return false;
      break;
    case Pat::kOp:
      if (i->op() != pat.op) return false;
      if (pat.in.empty()) break;
      if (i->num_operands() != static_cast<int64_t>(pat.in.size())) return false;
      if (!try_operands(pat, i, false) &&
          !(pat.in.size() == 2 && i->has(kCommutative) && try_operands(pat, i, true)))
        return false;
      break;
  }
  if (pat.name == 0) return true;
  Instruction*& bound = bound_[pat.name - 'a'];
  if (bound) return bound == i;
  bound = i;
  return true;
}

// Numbers take the root's shape; ops take what their rows infer.
Instruction* Match::build(const Pat& pat) {
  if (pat.kind == Pat::kNumber) return Build::splat(root_->shape(), pat.number);
  if (pat.kind != Pat::kOp) return (*this)[pat.name];
  std::vector<Instruction*> operands;
  for (const Pat& in : pat.in) operands.push_back(build(in));
  return add(pat.op, std::move(operands));
}

std::vector<const Rule*> all_rules() {
  std::vector<const Rule*> rules;
  for (auto table : {arithmetic_rules(), logic_rules(), shape_rules(), slice_rules(), dynamic_rules(),
                     contraction_rules()})
    for (const Rule& rule : table) rules.push_back(&rule);
  return rules;
}

}  // namespace armillary
