// Tuples that are only built to be taken apart.
#include "xla_core/passes/passes.h"

namespace armillary {
namespace {

// get-tuple-element(tuple(x0, x1, ...), i) is xi.
Instruction* element_behind(const Instruction& gte) {
  const Instruction* tuple = gte.operand(0);
  return tuple->is(Op::tuple) ? tuple->operand(gte.attrs().integer(Attr::index)) : nullptr;
}

// tuple(get-tuple-element(x, 0), ..., get-tuple-element(x, n-1)) is x.
Instruction* tuple_behind(const Instruction& tuple) {
  if (tuple.num_operands() == 0 || !tuple.operand(0)->is(Op::get_tuple_element)) return nullptr;
  Instruction* source = tuple.operand(0)->operand(0);
  if (!source->shape().compatible(tuple.shape())) return nullptr;
  for (int64_t i = 0; i < tuple.num_operands(); ++i) {
    const Instruction* element = tuple.operand(i);
    if (!element->is(Op::get_tuple_element) || element->operand(0) != source ||
        element->attrs().integer(Attr::index) != i)
      return nullptr;
  }
  return source;
}

}  // namespace

bool simplify_tuples(Module& module, const PassContext& context) {
  bool changed = false;
  for (Computation* computation : module.reachable()) {
    for (Instruction* i : computation->snapshot()) {
      Instruction* same = i->is(Op::get_tuple_element) ? element_behind(*i)
                          : i->is(Op::tuple)           ? tuple_behind(*i)
                                                       : nullptr;
      bool used = !i->users().empty() || i->is_root();
      if (!same || !used || !i->control_predecessors().empty()) continue;
      if (!context.spend(i)) continue;
      i->replace_all_uses_with(same);
      changed = true;
    }
  }
  return changed;
}

}  // namespace armillary
