// X-start, X-update and X-done for ops without a pair of their own: short for async-start around a
// computation that holds one X.
#include "xla_core/hlo/parser.h"

namespace armillary {

namespace {

// What the start behind an update or a completion wraps; Op::async_start when that is not in sight.
Op started_op(const std::vector<Instruction*>& operands) {
  const Instruction* i = operands.empty() ? nullptr : operands[0];
  while (i != nullptr && i->is(Op::async_update) && i->num_operands() > 0) i = i->operand(0);
  if (i == nullptr || !i->is(Op::async_start) || i->callees().empty()) return Op::async_start;
  const Instruction* root = i->callees()[0]->root();
  return root == nullptr ? Op::async_start : root->op();
}

}  // namespace

void Parser::wrap_async(Draft& draft) {
  if (draft.op->op == Op::async_start) {
    Computation* body = async_body(draft);
    draft.attrs.set(Attr::calls, std::vector<Computation*>{body});
    return;
  }
  const Op wrapped = started_op(draft.operands);
  if (wrapped != Op::async_start && wrapped != draft.wrapped->op)
    throw in_.error(draft.begin, "{}-{} needs what {}-start made, but its operand is what {}-start made",
                    draft.wrapped->name, draft.op->op == Op::async_done ? "done" : "update",
                    draft.wrapped->name, def(wrapped).name);
  // Updates and completions repeat the wrapped op's attributes; the start has them already.
  Attrs kept;
  for (const auto& [attr, value] : draft.attrs)
    if (is_common(attr)) kept.set(attr, value);
  draft.attrs = std::move(kept);
}

// The wrapped op takes its own attributes; what every instruction may carry stays on both, as XLA has it.
Computation* Parser::async_body(Draft& draft) {
  const OpDef& wrapped = *draft.wrapped;
  if (!draft.shape || !draft.shape->is_tuple() || draft.shape->tuple.size() < 2)
    throw in_.error(draft.begin, "{}-start must state its shape ((operands), result, ...)", wrapped.name);
  Attrs outer, inner;
  for (auto& [attr, value] : draft.attrs) {
    if (attr == Attr::async_execution_thread) {
      outer.set(attr, value);
      continue;
    }
    if (is_common(attr) && attr != Attr::sharding) outer.set(attr, value);
    inner.set(attr, std::move(value));
  }
  draft.attrs = std::move(outer);

  Computation* body = module_->add_computation("async_computation");
  body->execution_thread = draft.attrs.text(Attr::async_execution_thread, "");
  Scope scope;
  scope.computation = body;
  Draft inside;
  inside.begin = draft.begin;
  inside.op = &wrapped;
  inside.shape = draft.shape->tuple[1];
  inside.attrs = std::move(inner);
  inside.metadata = draft.metadata;
  for (size_t n = 0; n < draft.operands.size(); ++n) {
    Draft parameter;
    parameter.begin = draft.begin;
    parameter.op = &def(Op::parameter);
    parameter.parameter_number = static_cast<int64_t>(n);
    parameter.shape = draft.operands[n]->shape();
    inside.operands.push_back(finish(scope, parameter));
  }
  body->set_root(finish(scope, inside));
  return body;
}

}  // namespace armillary
