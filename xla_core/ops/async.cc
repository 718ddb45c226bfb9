// Rows of the generic asynchronous ops: a computation is started here and awaited there.
#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

// ((operands), result, context ...); operands or result may be bound later, then their place holds ().
Shape async_start_shape(const OpContext& c) {
  check_signature(Op::async_start, c);
  need_callee_count(Op::async_start, c, 1);
  const std::vector<Shape>& parameters = c.callees[0].parameters;
  if (c.operands.size() > parameters.size())
    throw user_error("async-start has {} operands, but its computation takes {}", c.operands.size(),
                     parameters.size());
  std::vector<Shape> operands;
  for (const Shape* x : c.operands) {
    if (!agree(*x, parameters[operands.size()]))
      throw user_error("operand {} is {}, but the computation takes {}", operands.size(), to_string(*x),
                       to_string(parameters[operands.size()]));
    operands.push_back(x->without_layout());
  }
  const Shape given = Shape::make_tuple(std::move(operands)), result = c.callees[0].result.without_layout();
  if (c.stated == nullptr) return Shape::make_tuple({given, result, Shape::scalar(DType::kS32)});
  const Shape& stated = *c.stated;
  if (!stated.is_tuple() || stated.tuple.size() < 2)
    throw user_error("async-start gives {}, but must give ((operands), result, ...)", to_string(stated));
  const Shape empty = Shape::make_tuple({});
  if (!agree(stated.tuple[0], given) && !agree(stated.tuple[0], empty))
    throw user_error("element 0 of async-start is {}, but its operands are {}", to_string(stated.tuple[0]),
                     to_string(given));
  if (!agree(stated.tuple[1], result) && !agree(stated.tuple[1], empty))
    throw user_error("element 1 of async-start is {}, but its computation returns {}",
                     to_string(stated.tuple[1]), to_string(result));
  return stated.without_layout();
}

void need_async_value(Op op, const OpContext& c) {
  check_signature(op, c);
  if (c.operands.empty() || !c.operand(0).is_tuple() || c.operand(0).tuple.size() < 2)
    throw user_error("operand 0 of {} must be what async-start gives, but is {}", to_string(op),
                     c.operands.empty() ? "missing" : to_string(c.operand(0)));
}

Shape async_update_shape(const OpContext& c) {
  need_async_value(Op::async_update, c);
  return c.stated != nullptr && c.stated->is_tuple() ? c.stated->without_layout()
                                                     : c.operand(0).without_layout();
}

Shape async_done_shape(const OpContext& c) {
  need_async_value(Op::async_done, c);
  return c.operand(0).tuple[1].without_layout();
}

}  // namespace

std::vector<OpDef> async_rows() {
  const std::vector<Attr> optional = {Attr::calls, Attr::async_execution_thread};
  return {
      {.op = Op::async_start,
       .arity = kVariadic,
       .traits = kCallsControl | kAsyncStart,
       .attrs = {Attr::calls},
       .optional = {Attr::async_execution_thread, Attr::output_to_operand_aliasing},
       .doc = "Starts a computation that runs beside what follows.",
       .infer = async_start_shape},
      {.op = Op::async_update,
       .arity = kVariadic,
       .traits = kNoTraffic,
       .optional = optional,
       .doc = "Marks progress of a started computation.",
       .infer = async_update_shape},
      {.op = Op::async_done,
       .arity = 1,
       .traits = kAsyncDone | kNoTraffic,
       .optional = optional,
       .doc = "Waits for a started computation and gives its result.",
       .infer = async_done_shape},
  };
}

}  // namespace armillary
