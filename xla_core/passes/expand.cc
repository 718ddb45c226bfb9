#include "xla_core/passes/expand.h"

#include <array>

#include "xla_core/passes/passes.h"

namespace armillary {
namespace {

// domain and add-dependency on one device: order is the scheduler's business, and effects keep theirs.
Instruction* first_operand(Instruction* i) { return i->operand(0); }

// Fusions that the input brings along are another compiler's choice; ours come later.
Instruction* body_of_fusion(Instruction* i) { return inlined(i, i->callees()[0], i->operands()); }

Instruction* constants(Build& b, const Literal& literal) {
  if (!literal.is_tuple()) return b.constant(literal);
  std::vector<Instruction*> elements;
  for (const Literal& element : literal.tuple()) elements.push_back(constants(b, element));
  return b.tuple(std::move(elements));
}

// A constant that is a tuple: a tuple of constants, which is all that later passes know.
Instruction* expand_constant(Instruction* i) {
  Build b(i);
  return constants(b, i->literal());
}

struct Row {
  Op op;
  Expander expand;
};
constexpr Row kRows[] = {
    {Op::batch_norm_inference, expand_batch_norm_inference},
    {Op::batch_norm_training, expand_batch_norm_training},
    {Op::batch_norm_grad, expand_batch_norm_grad},
    {Op::ragged_dot, expand_ragged_dot},
    {Op::scaled_dot, expand_scaled_dot},
    {Op::dot, expand_mixed_contraction},
    {Op::convolution, expand_mixed_contraction},
    {Op::scan, expand_scan},
    {Op::rng, expand_rng},
    {Op::constant, expand_constant},
    {Op::domain, first_operand},
    {Op::async_done, expand_async_done},
    {Op::copy_done, expand_copy_done},
    {Op::all_reduce, expand_collective},
    {Op::all_gather, expand_collective},
    {Op::reduce_scatter, expand_collective},
    {Op::all_to_all, expand_collective},
    {Op::collective_broadcast, expand_collective},
    {Op::all_reduce_done, expand_collective_done},
    {Op::all_gather_done, expand_collective_done},
    {Op::collective_permute_done, expand_collective_done},
    {Op::collective_permute, expand_permute},
    {Op::replica_id, expand_device_id},
    {Op::partition_id, expand_device_id},
    {Op::fusion, body_of_fusion},
    {Op::custom_call, expand_custom_call},
};

const std::array<Expander, 256>& expanders() {
  static const std::array<Expander, 256> table = [] {
    std::array<Expander, 256> rows{};
    for (const Row& row : kRows) rows[static_cast<size_t>(row.op)] = row.expand;
    return rows;
  }();
  return table;
}

Expander expander_of(const Instruction& i) {
  if (i.dead() || (i.is(Op::constant) && !i.shape().is_tuple())) return nullptr;
  return expanders()[static_cast<size_t>(i.op())];
}

bool expand_once(Module& module, const PassContext& context) {
  bool changed = false;
  for (Computation* computation : module.reachable()) {
    for (Instruction* i : computation->snapshot()) {
      Expander expander = expander_of(*i);
      if (!expander || !context.spend(i)) continue;
      Instruction* with = expander(i);
      if (!with) continue;
      Instruction* awaited = i->has(kAsyncDone) ? i->operand(0) : nullptr;
      i->replace_all_uses_with(with);
      computation->erase(i);
      // What now runs in one piece, where it ended, leaves the order that its beginning was bound to.
      while (awaited != nullptr && awaited->users().empty() && awaited != computation->root()) {
        Instruction* before = awaited->has(kAsyncStart) ? nullptr : awaited->operand(0);
        computation->erase(awaited);
        awaited = before;
      }
      changed = true;
    }
  }
  return changed;
}

}  // namespace

// Again for what expansions are made of: ragged-dot becomes a dot, whose sums may be of another kind.
bool expand(Module& module, const PassContext& context) {
  bool changed = false;
  while (expand_once(module, context)) changed = true;
  if (changed) dce(module, context);
  return changed;
}

}  // namespace armillary
