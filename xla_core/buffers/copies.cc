#include "xla_core/buffers/copies.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "xla_core/buffers/values.h"

namespace armillary {

namespace {

constexpr double kMostInstructions = 1 << 17;  // of a module that grows by more than kMostGrowth
constexpr double kMostGrowth = 4;

// Branches that call the same computation twice, and that again, would double the module with each level.
void check_growth(const Module& m) {
  std::unordered_map<const Computation*, double> copies{{m.entry(), 1}};
  double before = 0, after = 0;
  const auto computations = m.control_computations();
  for (auto c = computations.rbegin(); c != computations.rend(); ++c)
    for (const Instruction* i : (*c)->instructions()) {
      before += 1;
      after += copies[*c];
      if (!i->has(kCallsControl)) continue;
      for (const Computation* callee : i->callees()) copies[callee] += copies[*c];
    }
  if (after > std::max(kMostInstructions, kMostGrowth * before))
    throw resource_error("module {} would have {:.3g} instructions if each call had its own computation",
                         m.name(), after);
}

}  // namespace

bool flatten_call_graph(Module& m) {
  check_growth(m);
  bool changed = false;
  std::unordered_set<const Computation*> owned;
  // Callers before callees: a clone's own calls are met later in the walk.
  std::vector<Computation*> pending{m.entry()};
  while (!pending.empty()) {
    Computation* c = pending.back();
    pending.pop_back();
    for (Instruction* i : c->instructions()) {
      if (!i->has(kCallsControl)) continue;
      for (auto& [attr, value] : i->attrs()) {
        auto own = [&](Computation*& callee) {
          if (!owned.insert(callee).second) {
            callee = m.clone_computation(*callee);
            owned.insert(callee);
            changed = true;
          }
          pending.push_back(callee);
        };
        if (auto* one = std::get_if<Computation*>(&value)) own(*one);
        if (auto* many = std::get_if<std::vector<Computation*>>(&value))
          for (Computation*& callee : *many) own(callee);
      }
    }
  }
  return changed;
}

namespace {

// A value equal to x, in memory of its own down to the leaves.
Instruction* deep_copy(Computation* c, Instruction* x) {
  if (x->shape().is_array()) return c->add(Op::copy, x->shape(), {x});
  if (!x->shape().is_tuple()) return x;
  std::vector<Instruction*> elements;
  for (size_t k = 0; k < x->shape().tuple.size(); ++k) {
    Attrs attrs;
    attrs.set(Attr::index, static_cast<int64_t>(k));
    elements.push_back(
        deep_copy(c, c->add(Op::get_tuple_element, x->shape().tuple[k], {x}, std::move(attrs))));
  }
  return c->add(Op::tuple, x->shape(), std::move(elements));
}

// The parameter's element that x is under another name, as a leaf path; false when x is a value of its own
// (or partly so).
bool renames_parameter(const Instruction* x, const Instruction* parameter) {
  while (x != parameter && x->has(kRenames) && x->num_operands() > 0) {
    if (x->is(Op::tuple)) {
      for (const Instruction* operand : x->operands())
        if (renames_parameter(operand, parameter)) return true;
      return false;
    }
    x = x->operand(0);
  }
  return x == parameter;
}

bool same_place(const Instruction* x, const Instruction* parameter, int64_t index) {
  return x->is(Op::get_tuple_element) && x->operand(0) == parameter &&
         x->attrs().integer(Attr::index) == index;
}

bool fix_body(Computation* body) {
  Instruction* parameter = body->parameter(0);
  Instruction* root = body->root();
  if (root == parameter) return false;
  if (!root->is(Op::tuple)) {
    if (!renames_parameter(root, parameter)) return false;
    body->set_root(deep_copy(body, root));
    return true;
  }
  bool changed = false;
  std::vector<Instruction*> elements(root->operands().begin(), root->operands().end());
  for (size_t k = 0; k < elements.size(); ++k) {
    if (same_place(elements[k], parameter, static_cast<int64_t>(k)) ||
        !renames_parameter(elements[k], parameter))
      continue;
    elements[k] = deep_copy(body, elements[k]);
    changed = true;
  }
  if (changed) body->set_root(body->add(Op::tuple, root->shape(), std::move(elements)));
  return changed;
}

}  // namespace

bool insert_loop_copies(Module& m) {
  bool changed = false;
  for (Computation* c : m.reachable())
    for (Instruction* i : c->instructions())
      if (i->is(Op::while_)) changed |= fix_body(i->attrs().callee(Attr::body));
  return changed;
}

}  // namespace armillary
