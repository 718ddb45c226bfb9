// Loops, branches and barriers. Their regions may use values from outside, which HLO hands over as arguments.
#include <algorithm>

#include "xla_core/io/vhlo/op_import.h"

namespace armillary::vhlo {
namespace {

Sharding element_sharding(const OpImport& at, size_t i) {
  if (!at.sharding || at.sharding->type() != proto::OpSharding::TUPLE) return at.sharding;
  if (static_cast<int>(i) >= at.sharding->tuple_shardings_size()) return std::nullopt;
  return at.sharding->tuple_shardings(static_cast<int>(i));
}

Sharding sharding_of(const Instruction& i) {
  if (!i.has(Attr::sharding)) return std::nullopt;
  return read_sharding(i.attrs().raw(Attr::sharding));
}

Sharding joined(const std::vector<Sharding>& list) {
  const bool any = std::any_of(list.begin(), list.end(), [](const Sharding& one) { return one.has_value(); });
  return any ? Sharding(tuple_sharding(list)) : std::nullopt;
}

// Which parts of the state the body hands on untouched: they are values from outside.
std::vector<bool> find_invariant(const Operation& op) {
  const Block& body = op.regions[1];
  const size_t n = op.operands.size();
  std::vector<bool> invariant(n, false);
  if (body.operations.empty() || body.operations.back()->operands.size() != n || body.arguments.size() != n)
    throw user_error("the body does not give what it takes");
  for (size_t i = 0; i < n; ++i) invariant[i] = body.operations.back()->operands[i] == body.arguments[i];
  return invariant;
}

// Arguments of the region that never change become the values that come in.
void replace_invariant(Block& block, const Block& region, const std::vector<bool>& invariant,
                       const std::vector<Value*>& outside) {
  for (Operation* op : block.operations) {
    for (Value*& operand : op->operands) {
      const int64_t i = operand->number - region.first_value;  // arguments are numbered first
      if (i >= 0 && i < static_cast<int64_t>(invariant.size()) && invariant[i]) operand = outside[i];
    }
    for (Block& inner : op->regions) replace_invariant(inner, region, invariant, outside);
  }
}

void while_loop(OpImport& at) {
  Operation& op = at.op();
  at.region(1);
  const std::vector<bool> invariant = find_invariant(op);
  if (op.regions[0].arguments.size() != invariant.size() || op.results.size() != invariant.size())
    throw user_error("condition, body and results of a loop differ in number");
  RegionForm form{.one_argument = true, .skipped = invariant};
  for (Block& block : op.regions) replace_invariant(block, block, invariant, op.operands);
  form.captured = captured_by(op.regions);
  std::vector<Instruction*> state;
  for (size_t i = 0; i < invariant.size(); ++i) {
    if (invariant[i]) continue;
    state.push_back(at.operand(static_cast<int>(i)));
    if (at.sharding) form.arguments.push_back(element_sharding(at, i));
  }
  for (Value* value : form.captured) {
    state.push_back(at.importer().instruction(*value, at.into()));
    if (at.sharding) form.arguments.push_back(sharding_of(*state.back()));
  }
  if (at.sharding) at.sharding = joined(form.arguments);
  RegionForm body = form;
  body.returns_captured = true;
  body.results = form.arguments;
  Attrs attrs;
  attrs.set(Attr::body, at.importer().region(op.regions[1], body));
  attrs.set(Attr::condition, at.importer().region(op.regions[0], form));
  Instruction* operand = at.emit_one(state);
  Instruction* loop = at.emit(Op::while_, operand->shape(), {operand}, std::move(attrs));
  int64_t next = 0;
  for (size_t i = 0; i < invariant.size(); ++i) {
    const int number = static_cast<int>(i);
    if (invariant[i])
      at.give(number, at.operand(number));
    else
      at.give(number, state.size() == 1 ? loop : at.emit_element(loop, next++));
  }
}

struct Branch {
  Computation* computation;
  Instruction* argument;
};

Branch branch(OpImport& at, const Block& block) {
  RegionForm form{.captured = captured_by({&block, 1}), .one_argument = true};
  std::vector<Instruction*> arguments;
  for (Value* value : form.captured) arguments.push_back(at.importer().instruction(*value, at.into()));
  const Sharding whole = at.sharding;
  if (whole) {
    for (const Instruction* i : arguments) form.arguments.push_back(sharding_of(*i));
    for (int i = 0; i < at.num_results(); ++i) form.results.push_back(element_sharding(at, i));
  }
  Computation* computation = at.importer().region(block, form);
  at.sharding = joined(form.arguments);
  Instruction* argument = at.emit_one(std::move(arguments));
  at.sharding = whole;
  return {computation, argument};
}

void if_else(OpImport& at) {
  const Branch yes = branch(at, at.region(0)), no = branch(at, at.region(1));
  Attrs attrs;
  attrs.set(Attr::true_computation, yes.computation);
  attrs.set(Attr::false_computation, no.computation);
  at.give_elements(at.emit(Op::conditional, at.tuple_shape(), {at.operand(0), yes.argument, no.argument},
                           std::move(attrs)));
}

void switch_case(OpImport& at) {
  std::vector<Instruction*> operands = {at.operand(0)};
  std::vector<Computation*> computations;
  for (const Block& block : at.op().regions) {
    const Branch one = branch(at, block);
    computations.push_back(one.computation);
    operands.push_back(one.argument);
  }
  Attrs attrs;
  attrs.set(Attr::branch_computations, std::move(computations));
  at.give_elements(at.emit(Op::conditional, at.tuple_shape(), std::move(operands), std::move(attrs)));
}

void optimization_barrier(OpImport& at) {
  if (at.num_operands() == 0) return;
  Instruction* all = at.emit_one(at.operands());
  at.give_elements(at.emit(Op::opt_barrier, all->shape(), {all}));
}

}  // namespace

std::vector<OpRow> control_flow_rows() {
  return {
      {"vhlo", "case_v1", {}, switch_case},
      {"vhlo", "if_v1", {}, if_else},
      {"vhlo", "optimization_barrier_v1", {}, optimization_barrier},
      {"vhlo", "while_v1", {}, while_loop},
  };
}

}  // namespace armillary::vhlo
