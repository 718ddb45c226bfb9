// Handlers that run other computations: call, fusion, while, conditional, async, map.
#include <algorithm>

#include "xla_core/hlo/async_operands.h"
#include "xla_core/interp/evaluation.h"

namespace armillary {
namespace {

Literal call(Evaluation& e, const Instruction& i, Operands operands) {
  return e.run(*i.callees().at(0), operands);
}

Literal while_loop(Evaluation& e, const Instruction& i, Operands operands) {
  const Computation& condition = *i.attrs().callee(Attr::condition);
  const Computation& body = *i.attrs().callee(Attr::body);
  Literal state = operands[0];
  while (e.run(condition, {&state, 1}).get_int(0)) state = e.run(body, {&state, 1});
  return state;
}

// A pred chooses branch 0 when true; an index out of range chooses the last branch.
Literal conditional(Evaluation& e, const Instruction& i, Operands operands) {
  const auto callees = i.callees();
  const int64_t last = static_cast<int64_t>(callees.size()) - 1, value = operands[0].get_int(0);
  int64_t branch = value < 0 || value > last ? last : value;
  if (is_pred(operands[0].dtype())) branch = value ? 0 : 1;
  return e.run(*callees.at(static_cast<size_t>(branch)),
               operands.subspan(static_cast<size_t>(1 + branch), 1));
}

// What the computation of an async-start gives on these operands; () while some are missing.
Literal async_result(Evaluation& e, const Instruction& start, Operands operands) {
  const Computation& callee = *start.callees().at(0);
  return operands.size() == callee.parameters().size() ? e.run(callee, operands) : Literal::make_tuple({});
}

// ((operands), result, context...): the work is done as soon as all operands are there, the rest hands it on.
Literal async_start(Evaluation& e, const Instruction& i, Operands operands) {
  std::vector<Literal> parts = {Literal::make_tuple({operands.begin(), operands.end()}),
                                async_result(e, i, operands)};
  for (size_t k = parts.size(); k < i.shape().tuple.size(); ++k) parts.emplace_back(i.shape().tuple[k]);
  return Literal::make_tuple(std::move(parts));
}

Literal async_update(Evaluation& e, const Instruction& i, Operands operands) {
  const Instruction* start = async_start_of(i);
  if (operands.size() == 1 || start == nullptr) return operands[0];
  std::vector<Literal> parts(operands[0].tuple().begin(), operands[0].tuple().end());
  std::vector<Literal> bound(parts[0].tuple().begin(), parts[0].tuple().end());
  bound.insert(bound.end(), operands.begin() + 1, operands.end());
  parts[1] = async_result(e, *start, bound);
  parts[0] = Literal::make_tuple(std::move(bound));
  return Literal::make_tuple(std::move(parts));
}

Literal async_done(Evaluation&, const Instruction& i, Operands operands) {
  Literal result = operands[0].tuple().at(1);
  if (result.shape().is_tuple() && result.shape().tuple.empty() && i.shape().is_array())
    throw user_error("the computation that is awaited was not given all its operands");
  return result;
}

Literal map(Evaluation& e, const Instruction& i, Operands operands) {
  const int64_t count = i.shape().num_elements();
  std::vector<Literal> columns;
  for (const Literal& o : operands) columns.push_back(o.reshaped(Shape(o.dtype(), {count})));
  return tuple_or_single(e.function(*i.callees().at(0)).map(columns, count), i.shape());
}

}  // namespace

std::span<const HandlerRow> control_handlers() {
  static constexpr HandlerRow rows[] = {
      {Op::call, call},
      {Op::fusion, call},
      {Op::while_, while_loop},
      {Op::conditional, conditional},
      {Op::async_start, async_start},
      {Op::async_update, async_update},
      {Op::async_done, async_done},
      {Op::map, map},
  };
  return rows;
}

}  // namespace armillary
