#include "xla_core/fusion/emit.h"

#include <algorithm>

#include "xla_core/fusion/fusible.h"

namespace armillary {
namespace {

// A body, built while all instructions are still as they were; it is connected afterwards.
struct Draft {
  Computation* body = nullptr;
  std::vector<Instruction*> operands, outputs;
  std::string kind;
};

std::string body_name(const std::vector<Instruction*>& outputs) {
  std::string name = "fused";
  for (size_t n = 0; n < std::min<size_t>(outputs.size(), 3); ++n) {
    name += '_';
    for (char c : outputs[n]->def().name) name += c == '-' ? '_' : c;
  }
  return name;
}

Draft draft_body(Computation& computation, const Unit& unit, std::vector<Instruction*> outputs) {
  Draft draft{computation.module()->add_computation(body_name(outputs)), {}, std::move(outputs), "kLoop"};
  std::unordered_map<const Instruction*, Instruction*> copies;
  const auto& order = unit.group->order();
  for (auto i = order.rbegin(); i != order.rend(); ++i)  // producers first
    for (Instruction* o : (*i)->operands())
      if (!unit.group->contains(o) && copies.try_emplace(o, nullptr).second) {
        copies[o] = draft.body->add_parameter(static_cast<int64_t>(draft.operands.size()), o->shape());
        draft.operands.push_back(o);
      }
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    std::vector<Instruction*> operands;
    for (const Instruction* o : (*i)->operands()) operands.push_back(copies.at(o));
    copies[*i] = draft.body->clone(**i, std::move(operands));
    if ((*i)->is(Op::reduce)) draft.kind = "kInput";
    if (is_contraction(**i)) draft.kind = "kOutput";
  }
  std::vector<Instruction*> results;
  for (const Instruction* o : draft.outputs) results.push_back(copies.at(o));
  if (results.size() == 1) {
    draft.body->set_root(results[0]);
  } else {
    std::vector<Shape> shapes;
    for (const Instruction* r : results) shapes.push_back(r->shape());
    draft.body->set_root(
        draft.body->add(Op::tuple, Shape::make_tuple(std::move(shapes)), std::move(results)));
  }
  return draft;
}

// Writes the new computation next to the old one, in the order of the plan.
class Emitter {
 public:
  Emitter(Computation& computation, const FusionPlan& plan) : computation_(computation), plan_(plan) {}

  bool run() {
    for (const Unit& unit : plan_.units()) {
      if (!unit.group || !unit.group->is_worth_a_fusion()) continue;
      std::vector<Instruction*> outputs = plan_.outputs_of(*unit.group);
      drafts_.emplace(&unit, outputs.empty() ? Draft() : draft_body(computation_, unit, std::move(outputs)));
    }
    if (drafts_.empty()) return false;
    std::vector<Instruction*> old = computation_.snapshot();
    for (const Unit& unit : plan_.units()) {
      auto draft = drafts_.find(&unit);
      if (draft == drafts_.end())
        keep(unit);
      else if (draft->second.body)
        connect(draft->second);  // else nobody reads it
    }
    computation_.set_root(now(computation_.root()));
    for (auto i = old.rbegin(); i != old.rend(); ++i)
      if (!kept_.contains(*i)) computation_.erase(*i);
    computation_.reorder(order_);
    return true;
  }

 private:
  Instruction* now(Instruction* old) const {
    auto found = replaced_.find(old);
    return found == replaced_.end() ? old : found->second;
  }

  void place(Instruction* i) {
    if (kept_.insert(i).second) order_.push_back(i);
  }

  void keep(const Unit& unit) {
    if (unit.group)
      for (Instruction* i : unit.group->order())
        if (is_scalar_constant(*i)) place(i);
    place(unit.first);
    for (int64_t k = 0; k < unit.first->num_operands(); ++k)
      unit.first->replace_operand(k, now(unit.first->operand(k)));
  }

  void connect(const Draft& draft) {
    Attrs attrs;
    attrs.set(Attr::kind, draft.kind);
    attrs.set(Attr::calls, std::vector<Computation*>{draft.body});
    std::vector<Instruction*> operands;
    for (Instruction* o : draft.operands) operands.push_back(now(o));
    Instruction* fusion =
        computation_.add(Op::fusion, draft.body->root()->shape(), std::move(operands), std::move(attrs));
    fusion->set_metadata(draft.outputs.back()->metadata());
    place(fusion);
    if (draft.outputs.size() == 1) replaced_[draft.outputs[0]] = fusion;
    for (size_t n = 0; draft.outputs.size() > 1 && n < draft.outputs.size(); ++n) {
      Attrs index;
      index.set(Attr::index, static_cast<int64_t>(n));
      Instruction* element =
          computation_.add(Op::get_tuple_element, draft.outputs[n]->shape(), {fusion}, std::move(index));
      element->set_metadata(draft.outputs[n]->metadata());
      place(element);
      replaced_[draft.outputs[n]] = element;
    }
  }

  Computation& computation_;
  const FusionPlan& plan_;
  std::unordered_map<const Unit*, Draft> drafts_;
  std::unordered_map<const Instruction*, Instruction*> replaced_;
  std::unordered_set<const Instruction*> kept_;
  std::vector<Instruction*> order_;
};

}  // namespace

bool emit_fusions(Computation& computation, const FusionPlan& plan) {
  return Emitter(computation, plan).run();
}

}  // namespace armillary
