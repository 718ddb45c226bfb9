#include "xla_core/passes/loop_state.h"

#include <algorithm>

#include "xla_core/passes/build.h"

namespace armillary {
namespace {

bool only_read_by_elements(const Instruction& tuple) {
  auto is_read = [](const Instruction* user) { return user->is(Op::get_tuple_element); };
  return std::all_of(tuple.users().begin(), tuple.users().end(), is_read) && !tuple.is_root();
}

void renumber(const Instruction& tuple, const std::vector<int64_t>& place) {
  for (Instruction* user : tuple.users())
    user->attrs().set(Attr::index, place[user->attrs().integer(Attr::index)]);
}

}  // namespace

Loop::Loop(Instruction* loop)
    : loop_(loop),
      condition_(loop->attrs().callee(Attr::condition)),
      body_(loop->attrs().callee(Attr::body)) {}

std::optional<Loop> Loop::of(Instruction* i) {
  Loop loop(i);
  bool fits = i->operand(0)->is(Op::tuple) && loop.body_->root()->is(Op::tuple) &&
              only_read_by_elements(*i) && only_read_by_elements(*loop.body_->parameter(0)) &&
              only_read_by_elements(*loop.condition_->parameter(0));
  return fits ? std::optional(loop) : std::nullopt;
}

bool Loop::is_unchanged(int64_t k) const {
  const Instruction* value = next(k);
  return value->is(Op::get_tuple_element) && value->operand(0) == body_->parameter(0) &&
         value->attrs().integer(Attr::index) == k;
}

bool Loop::is_read_after(int64_t k) const {
  return std::any_of(loop_->users().begin(), loop_->users().end(), [&](const Instruction* u) {
    return u->attrs().integer(Attr::index) == k && (!u->users().empty() || u->is_root());
  });
}

std::vector<Instruction*> Loop::reads(const Computation& c, int64_t k) {
  std::vector<Instruction*> result;
  for (Instruction* user : c.parameter(0)->users())
    if (user->attrs().integer(Attr::index) == k) result.push_back(user);
  return result;
}

void Loop::set_state(std::vector<Instruction*> initial, std::vector<Instruction*> next) {
  Instruction *old_initial = loop_->operand(0), *old_root = body_->root();
  Instruction* state = Build(loop_).tuple(std::move(initial));
  loop_->replace_operand(0, state);
  if (old_initial->users().empty() && !old_initial->is_root()) old_initial->parent()->erase(old_initial);
  Instruction* root = body_->add(Op::tuple, state->shape(), std::move(next));
  root->set_metadata(old_root->metadata());
  body_->set_root(root);
  body_->erase(old_root);
  for (Instruction* i : {loop_, body_->parameter(0), condition_->parameter(0)}) i->set_shape(state->shape());
}

void Loop::drop(const std::vector<bool>& keep) {
  std::vector<int64_t> place(keep.size(), 0);
  std::vector<Instruction*> initials, nexts, dropped;
  for (int64_t k = 0; k < size(); ++k) {
    place[k] = static_cast<int64_t>(initials.size());
    if (!keep[k]) continue;
    initials.push_back(initial(k));
    nexts.push_back(next(k));
  }
  for (int64_t k = 0; k < size(); ++k)
    if (!keep[k]) dropped.push_back(next(k));
  set_state(std::move(initials), std::move(nexts));
  // What only the dropped elements needed is dead, the reads of these elements among it.
  for (auto order = body_->snapshot(); !order.empty(); order.pop_back()) {
    Instruction* i = order.back();
    if (i->users().empty() && !i->is_root() && !i->is(Op::parameter) && !i->has_effect() &&
        i->control_predecessors().empty())
      body_->erase(i);
  }
  for (Computation* c : {condition_, body_})
    for (Instruction* user :
         std::vector<Instruction*>(c->parameter(0)->users().begin(), c->parameter(0)->users().end()))
      if (user->users().empty() && !user->is_root()) c->erase(user);
  for (Instruction* user : std::vector<Instruction*>(loop_->users().begin(), loop_->users().end()))
    if (user->users().empty() && !user->is_root()) user->parent()->erase(user);
  for (const Instruction* tuple :
       {static_cast<const Instruction*>(loop_), static_cast<const Instruction*>(body_->parameter(0)),
        static_cast<const Instruction*>(condition_->parameter(0))})
    renumber(*tuple, place);
}

std::vector<Instruction*> Loop::append_unchanged(const std::vector<Instruction*>& values) {
  std::vector<Instruction*> initials, nexts, reads;
  for (int64_t k = 0; k < size(); ++k) {
    initials.push_back(initial(k));
    nexts.push_back(next(k));
  }
  Instruction* parameter = body_->parameter(0);
  auto after = std::next(std::find(body_->instructions().begin(), body_->instructions().end(), parameter));
  for (Instruction* value : values) {
    Attrs index = with(Attr::index, static_cast<int64_t>(initials.size()));
    Instruction* read =
        body_->add(Op::get_tuple_element, value->shape(), {parameter}, std::move(index), *after);
    initials.push_back(value);
    nexts.push_back(read);
    reads.push_back(read);
  }
  set_state(std::move(initials), std::move(nexts));
  return reads;
}

}  // namespace armillary
