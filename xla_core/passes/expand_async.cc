// Asynchronous pairs and annotations that mean nothing on one device without a second queue, and custom calls
// that are an op under another name.
#include <algorithm>
#include <unordered_set>

#include "xla_core/hlo/async_operands.h"
#include "xla_core/passes/expand.h"
#include "xla_core/passes/passes.h"

namespace armillary {

// async-done(async-update(async-start(x))) is a call, and the call its body.
Instruction* expand_async_done(Instruction* done) {
  const Instruction* start = async_start_of(*done);
  return start == nullptr ? nullptr : inlined(done, start->callees()[0], async_operands(*done));
}

Instruction* expand_copy_done(Instruction* done) {
  const Instruction* start = started_by(*done);
  if (!start->is(Op::copy_start)) return nullptr;
  return Build(done).add(Op::copy, done->shape(), {start->operand(0)});
}

namespace {

// Custom calls that only say where a value should live, or how it is sharded, which the partitioner reads.
Instruction* annotated(Instruction* i) {
  static constexpr std::string_view kPlaces[] = {"annotate_device_placement",
                                                 "LayoutConstraint",
                                                 "MoveToHost",
                                                 "MoveToDevice",
                                                 "PinToDevice",
                                                 "PinToDeviceSram"};
  static constexpr std::string_view kShardings[] = {
      "Sharding",
      "SPMDFullToShardShape",
      "SPMDShardToFullShape",
      "xla.sdy.FuncResultSharding",
      "xla.sdy.GlobalToLocalShape",
      "xla.sdy.LocalToGlobalShape",
  };
  auto among = [target = i->attrs().text(Attr::custom_call_target)](auto& all) {
    return std::find(std::begin(all), std::end(all), target) != std::end(all);
  };
  const bool same = i->num_operands() == 1 && i->operand(0)->shape().compatible(i->shape());
  const bool meant = among(kPlaces) || (among(kShardings) && i->module()->num_partitions == 1);
  return same && meant ? i->operand(0) : nullptr;
}

// As XLA's own rewrites spell it: the largest ones, as many as the result has.
Instruction* top_k(Instruction* i) {
  const Shape& shape = i->shape();
  const bool usual = i->num_operands() == 1 && shape.is_tuple() && shape.tuple.size() == 2 &&
                     shape.tuple[0].rank() > 0 && shape.tuple[1].dtype == DType::kS32;
  if (!usual) return nullptr;
  Attrs attrs = with(Attr::k, shape.tuple[0].dims.back());
  attrs.set(Attr::largest, true);
  return Build(i).add(Op::topk, shape, {i->operand(0)}, std::move(attrs));
}

bool comes_after(const Instruction* later, const Instruction* earlier) {
  std::vector<const Instruction*> work = {later};
  std::unordered_set<const Instruction*> seen;
  while (!work.empty()) {
    const Instruction* i = work.back();
    work.pop_back();
    if (i == earlier) return true;
    if (!seen.insert(i).second) continue;
    work.insert(work.end(), i->operands().begin(), i->operands().end());
    work.insert(work.end(), i->control_predecessors().begin(), i->control_predecessors().end());
  }
  return false;
}

// jax.experimental.control_deps: the first operand runs before the second.
Instruction* control_dependency(Instruction* i) {
  if (i->num_operands() != 2 || !i->shape().is_tuple() || !i->shape().tuple.empty()) return nullptr;
  Instruction *before = i->operand(0), *after = i->operand(1);
  if (comes_after(before, after))
    throw user_error(*i, "operand 0 would have to run before operand 1, which it needs");
  // What starts here runs in one piece where it ends.
  if (!before->has(kAsyncStart) && !after->has(kAsyncStart)) {
    after->add_control_predecessor(before);
    i->parent()->reorder(i->parent()->post_order());
  }
  return Build(i).add(Op::tuple, i->shape(), {});
}

}  // namespace

Instruction* expand_custom_call(Instruction* i) {
  const std::string_view target = i->attrs().text(Attr::custom_call_target);
  if (target == "TopK") return top_k(i);
  if (target == "xla.sdy.ShardingGroup" && i->module()->num_partitions == 1)
    return Build(i).tuple({});  // nothing is cut
  return target == "control_dep" ? control_dependency(i) : annotated(i);
}

// Late: until here the barrier kept other passes from looking through it.
bool remove_barriers(Module& module, const PassContext& context) {
  bool changed = false;
  for (Computation* computation : module.reachable()) {
    for (Instruction* i : computation->snapshot()) {
      if (!i->is(Op::opt_barrier) || !context.spend(i)) continue;
      i->replace_all_uses_with(i->operand(0));
      computation->erase(i);
      changed = true;
    }
  }
  return changed;
}

}  // namespace armillary
