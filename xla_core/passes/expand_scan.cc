// scan: a while loop that takes a slice of each input and leaves a slice of each output per round.
#include "xla_core/passes/expand.h"
#include "xla_core/passes/passes.h"

namespace armillary {
namespace {

struct Scan {
  Instruction* instr;
  int64_t inputs, carries, outputs, dim, length;
  bool reverse;

  explicit Scan(Instruction* i) : instr(i), carries(i->attrs().integer(Attr::num_carries)) {
    inputs = i->num_operands() - carries;
    outputs = static_cast<int64_t>(results().size()) - carries;
    const Dims& dims = i->attrs().ints(Attr::dimensions);
    dim = dims.empty() ? 0 : dims[0];
    reverse = i->attrs().flag(Attr::is_reverse);
    if (inputs > 0)
      length = i->operand(0)->dims()[dim];
    else
      length = outputs > 0 ? results()[0].dims[dim] : 0;
  }
  std::vector<Shape> results() const {
    return instr->shape().is_tuple() ? instr->shape().tuple : std::vector<Shape>{instr->shape()};
  }
};

// State: (round, inputs..., outputs so far..., carries...).
Computation* make_condition(const Scan& scan, const Shape& state) {
  Computation* c = scan.instr->module()->add_computation("scan_condition");
  Instruction* p = c->add_parameter(0, state, "state");
  Instruction* root = c->add_constant(Literal(Shape::scalar(DType::kPred)));
  c->set_root(root);
  Build b(root);
  c->set_root(b.compare("LT", b.element(p, 0), b.scalar_int(DType::kS32, scan.length)));
  c->erase(root);
  return c;
}

std::vector<Instruction*> starts_at(Build& b, Instruction* at, int64_t rank, int64_t dim) {
  std::vector<Instruction*> starts(rank, nullptr);
  Instruction* zero = b.scalar_int(DType::kS32, 0);
  for (int64_t d = 0; d < rank; ++d) starts[d] = d == dim ? at : zero;
  return starts;
}

Instruction* slice_at(Build& b, Instruction* x, Instruction* at, int64_t dim) {
  Dims window = x->dims(), rest = x->dims();
  window[dim] = 1;
  rest.erase(rest.begin() + dim);
  return b.reshape(b.dynamic_slice(x, starts_at(b, at, x->shape().rank(), dim), window), rest);
}

Computation* make_body(const Scan& scan, const Shape& state) {
  Computation* c = scan.instr->module()->add_computation("scan_body");
  Instruction* p = c->add_parameter(0, state, "state");
  Instruction* end = c->add_constant(Literal(Shape::scalar(DType::kPred)));
  c->set_root(end);
  Build b(end);
  Instruction* round = b.element(p, 0);
  Instruction* at =
      scan.reverse ? b.add(Op::subtract, {b.scalar_int(DType::kS32, scan.length - 1), round}) : round;
  std::vector<Instruction*> next{b.add(Op::add, {round, b.scalar_int(DType::kS32, 1)})}, arguments;
  for (int64_t k = 0; k < scan.inputs; ++k) {
    next.push_back(b.element(p, 1 + k));
    arguments.push_back(slice_at(b, next.back(), at, scan.dim));
  }
  for (int64_t k = 0; k < scan.carries; ++k)
    arguments.push_back(b.element(p, 1 + scan.inputs + scan.outputs + k));
  Computation* step = scan.instr->attrs().callee(Attr::to_apply);
  Instruction* call = b.add(Op::call, step->root()->shape(), arguments, with(Attr::to_apply, step));
  auto part = [&](int64_t k) { return call->shape().is_tuple() ? b.element(call, k) : call; };
  for (int64_t k = 0; k < scan.outputs; ++k) {
    Instruction* whole = b.element(p, 1 + scan.inputs + k);
    Dims window = whole->dims();
    window[scan.dim] = 1;
    next.push_back(b.dynamic_update_slice(whole, b.reshape(part(k), window),
                                          starts_at(b, at, whole->shape().rank(), scan.dim)));
  }
  for (int64_t k = 0; k < scan.carries; ++k) next.push_back(part(scan.outputs + k));
  c->set_root(b.tuple(next));
  c->erase(end);
  inline_call(call);
  return c;
}

}  // namespace

Instruction* expand_scan(Instruction* i) {
  Scan scan(i);
  if (scan.inputs == 0 && scan.outputs == 0) return nullptr;
  Build b(i);
  std::vector<Instruction*> initial{b.scalar_int(DType::kS32, 0)};
  for (int64_t k = 0; k < scan.inputs; ++k) initial.push_back(i->operand(k));
  for (int64_t k = 0; k < scan.outputs; ++k) initial.push_back(b.splat(scan.results()[k], 0.0));
  for (int64_t k = 0; k < scan.carries; ++k) initial.push_back(i->operand(scan.inputs + k));
  const auto result_of = [&](const std::vector<Instruction*>& results) {
    return i->shape().is_tuple() ? b.tuple(results) : results[0];
  };
  // No round: nothing can be sliced off an empty array.
  if (scan.length == 0) return result_of({initial.begin() + 1 + scan.inputs, initial.end()});
  Instruction* state = b.tuple(initial);
  Attrs attrs = with(Attr::condition, make_condition(scan, state->shape()));
  attrs.set(Attr::body, make_body(scan, state->shape()));
  Instruction* loop = b.add(Op::while_, state->shape(), {state}, attrs);
  std::vector<Instruction*> results;
  for (int64_t k = 0; k < scan.outputs + scan.carries; ++k)
    results.push_back(b.element(loop, 1 + scan.inputs + k));
  return result_of(results);
}

}  // namespace armillary
