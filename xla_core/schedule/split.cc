// Synchronous collectives as pairs of start and done.
#include "xla_core/schedule/overlap.h"

namespace armillary {
namespace {

bool is_splittable(const Instruction& i) {
  return i.has(kCollective) && !i.has(kAsyncStart) && !i.has(kAsyncDone) && i.num_operands() > 0;
}

// ((operands), result, context).
Shape start_shape(const Instruction& i) {
  std::vector<Shape> operands;
  for (const Instruction* o : i.operands()) operands.push_back(o->shape());
  Shape context = Shape::scalar(DType::kU32);
  context.layout = Layout::row_major(0);
  return Shape::make_tuple({Shape::make_tuple(std::move(operands)), i.shape(), std::move(context)});
}

Computation* body_of(const Instruction& i) {
  Computation* body = i.module()->add_computation("async_" + i.name());
  std::vector<Instruction*> parameters;
  for (const Instruction* o : i.operands())
    parameters.push_back(body->add_parameter(static_cast<int64_t>(parameters.size()), o->shape()));
  body->set_root(body->clone(i, std::move(parameters)));
  return body;
}

void split(Instruction* i) {
  Computation* c = i->parent();
  Attrs attrs;
  attrs.set(Attr::calls, std::vector<Computation*>{body_of(*i)});
  std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
  Instruction* start = c->add(Op::async_start, start_shape(*i), std::move(operands), attrs, i,
                              i->module()->unique_name(i->name() + "-start"));
  Instruction* done = c->add(Op::async_done, i->shape(), {start}, std::move(attrs), i,
                             i->module()->unique_name(i->name() + "-done"));
  start->set_metadata(i->metadata());
  done->set_metadata(i->metadata());
  for (Instruction* before : i->control_predecessors()) start->add_control_predecessor(before);
  i->replace_all_uses_with(done);
  i->clear_control_predecessors();
  c->erase(i);
}

// Who waits for this instruction without reading it.
bool is_waited_for(const Instruction& i) {
  for (const Instruction* other : i.parent()->instructions())
    for (const Instruction* before : other->control_predecessors())
      if (before == &i) return true;
  return false;
}

}  // namespace

bool split_collectives(Module& m) {
  bool changed = false;
  for (Computation* c : m.control_computations())
    for (Instruction* i : c->snapshot()) {
      if (!is_splittable(*i) || is_waited_for(*i)) continue;
      split(i);
      changed = true;
    }
  return changed;
}

}  // namespace armillary
