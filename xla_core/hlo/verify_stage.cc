// Laws that hold from a stage on.
#include "xla_core/hlo/verify_laws.h"

namespace armillary {

void check_expanded(const Instruction& i) {
  if (i.def().meaning == Meaning::kExpand) throw user_error(i, "{} should have been expanded", i.def().name);
}

void check_partitioned(const Instruction& i) {
  const bool at_the_edge = i.parent()->is_entry() && (i.is(Op::parameter) || i.is_root());
  if (i.has(Attr::sharding) && !at_the_edge) throw user_error(i, "a sharding is left after partitioning");
}

void check_has_layout(const Instruction& i) {
  for (const Shape* leaf : leaves_of(i.shape()))
    if (leaf->is_array() && !leaf->layout) throw user_error(i, "{} has no layout", to_string(*leaf));
}

void check_keeps_layout(const Instruction& i) {
  if (!i.has(kElementwise) || !i.shape().layout) return;
  for (const Instruction* operand : i.operands()) {
    const Shape& shape = operand->shape();
    if (shape.rank() != i.shape().rank() || !shape.layout) continue;  // a scalar beside arrays
    if (shape.layout->minor_to_major != i.shape().layout->minor_to_major)
      throw user_error(i, "operand %{} has layout {}, the result {}; only copy changes a layout",
                       operand->name(), to_string(*shape.layout), to_string(*i.shape().layout));
  }
}

void check_one_contraction(const Instruction& i) {
  if (!i.is(Op::fusion)) return;
  const Instruction* first = nullptr;
  for (const Computation* body : i.callees()) {
    for (const Instruction* inside : body->instructions()) {
      // Dots and convolutions: rows with factors and no combiner to call.
      if (inside->def().meaning != Meaning::kFactors || inside->has(kCallsEmbedded)) continue;
      if (first != nullptr)
        throw user_error(i, "the body has two contractions, %{} and %{}", first->name(), inside->name());
      first = inside;
    }
  }
}

void check_scheduled(const Module& m) {
  if (!m.is_scheduled) throw user_error("module {} is not marked as scheduled", m.name());
}

void check_start_has_done(const Instruction& i) {
  if (!i.has(kAsyncStart)) return;
  if (i.users().size() != 1)
    throw user_error(i, "a start needs one done or update, found {} users", i.users().size());
  const Instruction& user = *i.users()[0];
  if (!user.has(kAsyncDone) && !user.is(Op::async_update))
    throw user_error(i, "its user %{} is {}, which is no done or update", user.name(), user.def().name);
}

}  // namespace armillary
