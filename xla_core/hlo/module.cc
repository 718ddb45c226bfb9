#include "xla_core/hlo/module.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace armillary {

bool Computation::is_entry() const { return module_->entry() == this; }

ProgramShape Computation::program_shape() const {
  ProgramShape shape;
  for (const Instruction* p : parameters_) shape.parameters.push_back(p ? p->shape() : Shape());
  if (root_) shape.result = root_->shape();
  return shape;
}

Instruction* Computation::insert(Instruction* i, std::vector<Instruction*> operands, Instruction* before) {
  i->parent_ = this;
  i->operands_ = std::move(operands);
  for (Instruction* operand : i->operands_)  // an operand that stands there twice already ends with this user
    if (operand->users_.empty() || operand->users_.back() != i) operand->users_.push_back(i);
  i->position_ = order_.insert(before ? before->position_ : order_.end(), i);
  return i;
}

Instruction* Computation::add(Op op, Shape shape, std::vector<Instruction*> operands, Attrs attrs,
                              Instruction* before, std::string name) {
  if (name.empty()) name = module_->unique_name(to_string(op));
  auto* i = new Instruction(op, std::move(shape), module_->next_id_++, std::move(name));
  module_->arena_.emplace_back(i);
  i->attrs_ = std::move(attrs);
  return insert(i, std::move(operands), before);
}

Instruction* Computation::add(Op op, std::vector<Instruction*> operands, Attrs attrs, Instruction* before) {
  const OpDef& row = def(op);
  if (row.infer == nullptr)
    throw internal_error("{}: the shape must be given, it cannot be inferred", row.name);
  Instruction* i = add(op, Shape(), std::move(operands), std::move(attrs), before);
  Instruction::ContextStorage storage = i->context_storage();
  i->set_shape(row.infer(storage.context(i->attrs(), nullptr)));
  return i;
}

Instruction* Computation::add_parameter(int64_t number, Shape shape, std::string name, Instruction* before) {
  Instruction* i = add(Op::parameter, std::move(shape), {}, {}, before);
  i->set_parameter_number(number);
  if (!name.empty()) i->set_name(module_->unique_name(name));
  if (number >= static_cast<int64_t>(parameters_.size())) parameters_.resize(number + 1, nullptr);
  parameters_[number] = i;
  return i;
}

Instruction* Computation::add_constant(Literal literal, Instruction* before) {
  Instruction* i = add(Op::constant, literal.shape(), {}, {}, before);
  i->set_literal(std::move(literal));
  return i;
}

Instruction* Computation::clone(const Instruction& original, std::vector<Instruction*> operands,
                                Instruction* before) {
  Instruction* i = add(original.op(), original.shape(), std::move(operands), original.attrs(), before);
  i->parameter_number_ = original.parameter_number_;
  i->literal_ = original.literal_;
  i->metadata_ = original.metadata_;
  i->line_ = original.line_;
  i->column_ = original.column_;
  if (original.is(Op::parameter)) {
    const auto number = static_cast<size_t>(original.parameter_number_);
    if (number >= parameters_.size()) parameters_.resize(number + 1, nullptr);
    parameters_[number] = i;
  }
  return i;
}

void Computation::erase(Instruction* i) {
  ARM_CHECK(i->parent_ == this && i->users_.empty() && root_ != i);
  std::vector<Instruction*> operands = std::move(i->operands_);
  i->operands_.clear();
  for (Instruction* operand : operands) operand->remove_user(i);
  if (i->is_control_predecessor_)
    for (Instruction* other : order_) std::erase(other->control_predecessors_, i);
  order_.erase(i->position_);
  if (i->is(Op::parameter) && i->parameter_number_ < static_cast<int64_t>(parameters_.size()) &&
      parameters_[i->parameter_number_] == i)
    parameters_[i->parameter_number_] = nullptr;
  i->parent_ = nullptr;
}

void Computation::remove_parameter(int64_t number) {
  if (Instruction* p = parameters_[number]) erase(p);
  parameters_.erase(parameters_.begin() + number);
  for (size_t n = number; n < parameters_.size(); ++n)
    parameters_[n]->parameter_number_ = static_cast<int64_t>(n);
}

void Computation::move_before(Instruction* i, Instruction* before) {
  order_.splice(before ? before->position_ : order_.end(), order_, i->position_);
}

void Computation::reorder(const std::vector<Instruction*>& order) {
  ARM_CHECK(order.size() == order_.size());
  for (Instruction* i : order) order_.splice(order_.end(), order_, i->position_);
}

std::vector<Instruction*> Computation::post_order() const {
  // Iterative depth first search: a chain of 50,000 instructions must not need as many stack frames.
  std::vector<Instruction*> result;
  std::unordered_map<const Instruction*, bool> done;  // false: its operands are being visited
  result.reserve(order_.size());
  std::vector<std::pair<Instruction*, size_t>> stack;
  auto visit = [&](Instruction* from) {
    if (!from || done.count(from)) return;
    stack.emplace_back(from, 0);
    done[from] = false;
    while (!stack.empty()) {
      auto& [at, next] = stack.back();
      const size_t operands = at->operands_.size();
      if (next < operands + at->control_predecessors_.size()) {
        Instruction* before =
            next < operands ? at->operands_[next] : at->control_predecessors_[next - operands];
        ++next;
        if (done.try_emplace(before, false).second) stack.emplace_back(before, 0);
        continue;
      }
      done[at] = true;
      result.push_back(at);
      stack.pop_back();
    }
  };
  for (Instruction* p : parameters_) visit(p);
  for (Instruction* i : order_)
    if (i->has_effect()) visit(i);
  visit(root_);
  for (Instruction* i : order_) visit(i);
  return result;
}

namespace {

// Copies the instructions of `from` into `to`; callees go through `callee`.
void copy_instructions(const Computation& from, Computation& to,
                       const std::function<Computation*(Computation*)>& callee, bool keep_names) {
  std::unordered_map<const Instruction*, Instruction*> twin;
  for (const Instruction* i : from.instructions()) {
    std::vector<Instruction*> operands;
    for (const Instruction* operand : i->operands()) operands.push_back(twin.at(operand));
    Instruction* copy = to.clone(*i, std::move(operands));
    if (keep_names) copy->set_name(i->name());
    for (Computation* c : copy->callees()) copy->replace_callee(c, callee(c));
    twin[i] = copy;
  }
  for (const Instruction* i : from.instructions())
    for (const Instruction* before : i->control_predecessors())
      twin.at(i)->add_control_predecessor(twin.at(before));
  if (from.root()) to.set_root(twin.at(from.root()));
  to.execution_thread = from.execution_thread;
  to.other_attributes = from.other_attributes;
}

// Iterative, so that a long chain of calls needs no stack.
void append_callees_first(Computation* from, std::unordered_set<const Computation*>& seen,
                          std::vector<Computation*>& result, bool control_only = false) {
  struct Visit {
    Computation* at;
    std::vector<Computation*> callees;
    size_t next = 0;
  };
  std::vector<Visit> stack;
  auto enter = [&](Computation* c) {
    if (!seen.insert(c).second) return;
    stack.push_back({c, {}});
    for (const Instruction* i : c->instructions())
      if (!control_only || i->has(kCallsControl))
        for (Computation* callee : i->callees()) stack.back().callees.push_back(callee);
  };
  for (enter(from); !stack.empty();) {
    Visit& top = stack.back();
    if (top.next < top.callees.size()) {
      enter(top.callees[top.next++]);
    } else {
      result.push_back(top.at);
      stack.pop_back();
    }
  }
}

}  // namespace

std::unique_ptr<Module> Module::clone() const {
  auto copy = std::make_unique<Module>(name_);
  copy->file = file;
  std::unordered_map<const Computation*, Computation*> twin;
  for (const Computation* c : computations()) {
    Computation* made = copy->add_computation(c->name());
    made->set_name(c->name());
    twin[c] = made;
    copy_instructions(*c, *made, [&](Computation* callee) { return twin.at(callee); }, /*keep_names=*/true);
  }
  copy->names_ = names_;
  copy->taken_ = taken_;
  if (entry_) copy->entry_ = twin.at(entry_);
  copy->is_scheduled = is_scheduled;
  copy->replica_count = replica_count;
  copy->num_partitions = num_partitions;
  copy->aliases = aliases;
  copy->donors = donors;
  copy->entry_layout = entry_layout;
  copy->result_sharding = result_sharding;
  copy->frontend_attributes = frontend_attributes;
  copy->other_attributes = other_attributes;
  copy->stack_frames = stack_frames;
  return copy;
}

std::vector<Computation*> Module::computations() const {
  std::vector<Computation*> result;
  std::unordered_set<const Computation*> seen;
  for (const auto& c : computations_)
    if (!c->erased_ && c.get() != entry_) append_callees_first(c.get(), seen, result);
  if (entry_) append_callees_first(entry_, seen, result);
  return result;
}

std::vector<Computation*> Module::reachable() const {
  std::vector<Computation*> result;
  std::unordered_set<const Computation*> seen;
  if (entry_) append_callees_first(entry_, seen, result);
  return result;
}

std::vector<Computation*> Module::control_computations() const {
  std::vector<Computation*> result;
  std::unordered_set<const Computation*> seen;
  if (entry_) append_callees_first(entry_, seen, result, /*control_only=*/true);
  return result;
}

Computation* Module::add_computation(std::string name) {
  computations_.emplace_back(new Computation(this, unique_name(name)));
  return computations_.back().get();
}

Computation* Module::clone_computation(const Computation& original) {
  Computation* made = add_computation(original.name());
  copy_instructions(original, *made, [](Computation* callee) { return callee; }, /*keep_names=*/false);
  return made;
}

void Module::erase(Computation* c) {
  ARM_CHECK(c != entry_);
  c->set_root(nullptr);
  std::vector<Instruction*> all = c->snapshot();
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    (*it)->clear_control_predecessors();
    (*it)->operands_.clear();
    (*it)->users_.clear();
    (*it)->parent_ = nullptr;
  }
  c->order_.clear();
  c->parameters_.clear();
  c->erased_ = true;
}

void Module::erase_unreachable_computations() {
  std::unordered_set<const Computation*> keep;
  for (Computation* c : reachable()) keep.insert(c);
  for (const auto& c : computations_)
    if (!c->erased_ && !keep.count(c.get())) erase(c.get());
}

std::string Module::unique_name(std::string_view base) {
  // "add.3" asks for a fresh "add.N" when "add.3" is taken.
  std::string stem(base);
  if (taken_.insert(stem).second) return stem;
  const size_t dot = stem.find_last_of('.');
  if (dot != std::string::npos && dot + 1 < stem.size() &&
      std::all_of(stem.begin() + dot + 1, stem.end(), [](char ch) { return ch >= '0' && ch <= '9'; }))
    stem.resize(dot);
  int64_t& next = names_.try_emplace(stem, 1).first->second;
  for (;; ++next) {
    std::string candidate = stem + "." + std::to_string(next);
    if (taken_.insert(candidate).second) return candidate;
  }
}

void Module::reserve_name(std::string_view name) { taken_.insert(std::string(name)); }

int64_t Module::instruction_count() const {
  int64_t n = 0;
  for (const Computation* c : computations()) n += c->size();
  return n;
}

}  // namespace armillary
