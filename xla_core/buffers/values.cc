#include "xla_core/buffers/values.h"

#include <algorithm>

namespace armillary {
namespace {

// Priorities of wishes: what saves copies inside loops comes first.
constexpr int kLoopState = 0, kUpdate = 1, kLoopStart = 2, kBranch = 3, kInPlace = 4;

int64_t leaf_offset(const Shape& tuple, int64_t index) {
  int64_t offset = 0;
  for (int64_t i = 0; i < index; ++i) offset += static_cast<int64_t>(leaves_of(tuple.tuple[i]).size());
  return offset;
}

bool has_memory(const Shape& leaf) { return leaf.is_array(); }

// True when the body hands element `index` of its state on as it came.
bool passes_through(const Computation& body, int64_t index) {
  if (!body.root()->is(Op::tuple)) return false;
  const Instruction* next = body.root()->operand(index);
  return next->is(Op::get_tuple_element) && next->operand(0) == body.parameter(0) &&
         next->attrs().integer(Attr::index) == index;
}

// Per leaf of the state: is it only read in the loop?
std::vector<bool> invariant_leaves(const Computation& body) {
  std::vector<bool> result;
  const Shape& state = body.root()->shape();
  for (size_t i = 0; i < state.tuple.size(); ++i)
    result.insert(result.end(), leaves_of(state.tuple[i]).size(),
                  passes_through(body, static_cast<int64_t>(i)));
  if (!state.is_tuple()) result.assign(1, body.root() == body.parameter(0));
  return result;
}

}  // namespace

Values::Values(const Module& module, const Target& target) : target_(target) {
  scopes_.push_back({});
  const Computation* entry = module.entry();
  for (const Instruction* p : entry->parameters()) leaves_[p] = define_all(p, Value::kParameter, 0);
  visit(*entry, 0);
  for (int32_t leaf : of(entry->root()))
    if (leaf >= 0) use(leaf, 2 * now_ + 2, 0);
}

int32_t Values::define(const Instruction* i, int64_t leaf, Value::Kind kind, int scope) {
  Value value;
  value.kind = kind;
  value.instruction = i;
  value.leaf = leaf;
  const Shape& shape = *leaves_of(i->shape())[leaf];
  value.size = target_.stored_bytes ? target_.stored_bytes(shape) : shape.byte_size();
  value.segments = {{2 * now_, 2 * now_ + 1}};
  values_.push_back(std::move(value));
  scope_of_.push_back(scope);
  return size() - 1;
}

std::vector<int32_t> Values::define_all(const Instruction* i, Value::Kind kind, int scope) {
  std::vector<int32_t> ids;
  const std::vector<const Shape*> leaves = leaves_of(i->shape());
  for (size_t n = 0; n < leaves.size(); ++n)
    ids.push_back(has_memory(*leaves[n]) ? define(i, static_cast<int64_t>(n), kind, scope) : -1);
  return ids;
}

void Values::use(int32_t value, int64_t tick, int scope) {
  if (value < 0) return;
  int64_t& end = values_[value].segments.back().end;
  end = std::max(end, tick);
  // Used inside a loop but made outside: needed until the loop ends.
  for (int s = scope; s >= 0 && s != scope_of_[value]; s = scopes_[s].parent)
    if (scopes_[s].loop) scopes_[s].used_from_outside.push_back(value);
}

void Values::close_loop(int scope) {
  for (int32_t value : scopes_[scope].used_from_outside) {
    int64_t& end = values_[value].segments.back().end;
    end = std::max(end, 2 * now_ + 1);
  }
}

void Values::wish(int32_t from, int32_t to, int64_t tick, int priority) {
  if (from >= 0 && to >= 0 && from != to) wishes_.push_back({from, to, tick, priority});
}

void Values::visit(const Computation& c, int scope) {
  for (const Instruction* i : c.instructions()) {
    if (i->is(Op::parameter)) {
      tick_[i] = 2 * now_;
      continue;
    }
    ++now_;
    tick_[i] = 2 * now_;
    visit(i, scope);
  }
}

void Values::visit(const Instruction* i, int scope) {
  switch (i->op()) {
    case Op::tuple: {
      std::vector<int32_t> ids;
      for (const Instruction* operand : i->operands())
        ids.insert(ids.end(), of(operand).begin(), of(operand).end());
      leaves_[i] = std::move(ids);
      return;
    }
    case Op::get_tuple_element: {
      const Instruction* tuple = i->operand(0);
      const auto first = of(tuple).begin() + leaf_offset(tuple->shape(), i->attrs().integer(Attr::index));
      leaves_[i] = {first, first + static_cast<int64_t>(leaves_of(i->shape()).size())};
      return;
    }
    case Op::after_all:
      leaves_[i] = {-1};
      return;
    case Op::async_start:
      return visit_async_start(i, scope);
    case Op::async_done:
      return visit_async_done(i, scope);
    case Op::while_:
      return visit_while(i, scope);
    case Op::conditional:
      return visit_conditional(i, scope);
    case Op::call:
      return visit_call(i, scope);
    default:
      break;
  }
  if (i->has(kRenames)) {
    leaves_[i] = std::vector<int32_t>(of(i->operand(0)));
    return;
  }
  std::vector<int32_t> ids = define_all(i, i->is(Op::constant) ? Value::kConstant : Value::kDefined, scope);
  for (int64_t k = 0; k < i->num_operands(); ++k) {
    const std::vector<int32_t>& operand = of(i->operand(k));
    for (int32_t value : operand) use(value, 2 * now_ + 1, scope);
    if (operand.size() != 1 || operand[0] < 0) continue;
    for (size_t leaf = 0; leaf < ids.size(); ++leaf)
      if (may_take_over(*i, operand[0], static_cast<int64_t>(leaf))) {
        const bool updates = target_.updates_in_place(*i, k, static_cast<int64_t>(leaf));
        wish(operand[0], ids[leaf], 2 * now_, updates ? kUpdate : kInPlace);
      }
  }
  leaves_[i] = std::move(ids);
}

// Every operand that is this value must allow it.
bool Values::may_take_over(const Instruction& i, int32_t value, int64_t leaf) const {
  for (int64_t k = 0; k < i.num_operands(); ++k) {
    const std::vector<int32_t>& operand = of(i.operand(k));
    if (std::find(operand.begin(), operand.end(), value) != operand.end() && !target_.may_share(i, k, leaf))
      return false;
  }
  return true;
}

// ((operands), result, context): the operands stay where they are, and are read until the done.
void Values::visit_async_start(const Instruction* i, int scope) {
  std::vector<int32_t> ids;
  for (const Instruction* operand : i->operands())
    for (int32_t value : of(operand)) {
      use(value, 2 * now_ + 1, scope);
      ids.push_back(value);
    }
  const int64_t leaves = static_cast<int64_t>(leaves_of(i->shape()).size());
  const int64_t results = static_cast<int64_t>(leaves_of(i->shape().tuple[1]).size());
  for (int64_t leaf = 0; leaf < results; ++leaf)
    ids.push_back(define(i, static_cast<int64_t>(ids.size()), Value::kDefined, scope));
  ids.resize(leaves, -1);
  leaves_[i] = std::move(ids);
}

void Values::visit_async_done(const Instruction* i, int scope) {
  const Instruction* start = i->operand(0);
  const std::vector<int32_t>& ids = of(start);
  for (int32_t value : ids) use(value, 2 * now_ + 1, scope);
  const auto first = ids.begin() + leaf_offset(start->shape(), 1);
  leaves_[i] = {first, first + static_cast<int64_t>(leaves_of(i->shape()).size())};
}

void Values::visit_while(const Instruction* i, int scope) {
  Computation* condition = i->attrs().callee(Attr::condition);
  Computation* body = i->attrs().callee(Attr::body);
  const int64_t start = now_;
  const int inside = static_cast<int>(scopes_.size());
  scopes_.push_back({scope, true, {}});
  const std::vector<int32_t> init = of(i->operand(0));
  std::vector<int32_t> state = init;  // what the loop only reads needs no memory of its own
  const std::vector<bool> invariant = invariant_leaves(*body);
  for (size_t l = 0; l < state.size(); ++l) {
    use(init[l], 2 * start + 1, scope);
    if (invariant[l] || init[l] < 0) continue;
    state[l] = define(i, static_cast<int64_t>(l), Value::kDefined, inside);
    wish(init[l], state[l], 2 * start, kLoopStart);
  }
  leaves_[condition->parameter(0)] = state;
  leaves_[body->parameter(0)] = state;
  visit(*condition, inside);
  ++now_;
  for (int32_t leaf : of(condition->root())) use(leaf, 2 * now_ + 1, inside);
  // The condition also runs last of all, with the state that outlives the loop.
  for (size_t l = 0; l < state.size(); ++l)
    if (!invariant[l]) use(state[l], 2 * now_ + 1, inside);
  visit(*body, inside);
  ++now_;
  const std::vector<int32_t> next = of(body->root());
  for (size_t l = 0; l < state.size(); ++l) {
    if (state[l] < 0 || invariant[l]) continue;
    use(next[l], 2 * now_ + 1, inside);
    if (next[l] != state[l]) values_[state[l]].segments.push_back({2 * now_, 2 * now_ + 1});
    wish(next[l], state[l], 2 * now_, kLoopState);
  }
  close_loop(inside);
  ++now_;
  // From here on the state is an ordinary value of the outer scope.
  for (size_t l = 0; l < state.size(); ++l) {
    if (state[l] < 0 || invariant[l]) continue;
    scope_of_[state[l]] = scope;
    use(state[l], 2 * now_, scope);
  }
  leaves_[i] = state;
}

void Values::visit_conditional(const Instruction* i, int scope) {
  const int64_t start = now_;
  use(of(i->operand(0))[0], 2 * start + 1, scope);
  const std::vector<Computation*> branches = i->callees();
  std::vector<std::vector<int32_t>> results;
  std::vector<int64_t> ends;
  for (size_t b = 0; b < branches.size(); ++b) {
    const std::vector<int32_t> argument = of(i->operand(static_cast<int64_t>(b) + 1));
    // The argument must survive until its own branch runs; later branches never see it.
    leaves_[branches[b]->parameter(0)] = argument;
    for (int32_t value : argument) use(value, 2 * now_ + 1, scope);
    visit(*branches[b], scope);
    ++now_;
    results.push_back(of(branches[b]->root()));
    ends.push_back(now_);
    for (int32_t value : results.back()) use(value, 2 * now_ + 1, scope);
  }
  ++now_;
  std::vector<int32_t> ids = define_all(i, Value::kDefined, scope);
  for (size_t l = 0; l < ids.size(); ++l) {
    if (ids[l] < 0) continue;
    Value& value = values_[ids[l]];
    value.segments.insert(value.segments.begin(), ends.size(), {});
    for (size_t b = 0; b < ends.size(); ++b) value.segments[b] = {2 * ends[b], 2 * ends[b] + 1};
    for (size_t b = 0; b < ends.size(); ++b) wish(results[b][l], ids[l], 2 * ends[b], kBranch);
  }
  leaves_[i] = std::move(ids);
}

void Values::visit_call(const Instruction* i, int scope) {
  Computation* callee = i->callees().front();
  for (int64_t k = 0; k < i->num_operands(); ++k)
    leaves_[callee->parameter(k)] = std::vector<int32_t>(of(i->operand(k)));
  visit(*callee, scope);
  leaves_[i] = std::vector<int32_t>(of(callee->root()));
}

}  // namespace armillary
