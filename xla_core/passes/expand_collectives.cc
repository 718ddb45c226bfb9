// Collectives among one device: everybody is alone, so they hand on what they get. And asynchronous pairs.
#include <algorithm>

#include "xla_core/hlo/async_operands.h"
#include "xla_core/passes/expand.h"

namespace armillary {
namespace {

bool is_alone(const Instruction& i) {
  return i.module()->replica_count == 1 && i.module()->num_partitions == 1;
}

bool same_shapes(const Instruction& i) {
  if (!i.shape().is_tuple()) return i.num_operands() == 1 && i.operand(0)->shape().compatible(i.shape());
  auto same = [](const Instruction* o, const Shape& s) { return o->shape().compatible(s); };
  return std::equal(i.operands().begin(), i.operands().end(), i.shape().tuple.begin(), i.shape().tuple.end(),
                    same);
}

Instruction* operands_of(Instruction* i, Instruction* from) {
  if (!i->shape().is_tuple()) return from->operand(0);
  return Build(i).tuple({from->operands().begin(), from->operands().end()});
}

}  // namespace

// all-reduce, all-gather, reduce-scatter, all-to-all, collective-broadcast.
Instruction* expand_collective(Instruction* i) {
  return is_alone(*i) && same_shapes(*i) ? operands_of(i, i) : nullptr;
}

// Who gets nothing gets zeros.
Instruction* expand_permute(Instruction* i) {
  if (!is_alone(*i) || !same_shapes(*i) || i->shape().is_tuple()) return nullptr;
  std::string pairs = i->attrs().raw(Attr::source_target_pairs);
  std::erase(pairs, ' ');
  return pairs.find("{0,0}") != std::string::npos ? i->operand(0) : Build(i).splat(i->shape(), 0.0);
}

// done(start(x)) is the collective that does not return before it is finished.
Instruction* expand_collective_done(Instruction* done) {
  const Instruction* start = started_by(*done);
  const std::optional<Op> whole = start->def().whole;
  if (!whole) return nullptr;
  Build build(done);
  Instruction* i =
      build.add(*whole, done->shape(), {start->operands().begin(), start->operands().end()}, start->attrs());
  Instruction* alone = i->is(Op::collective_permute) ? expand_permute(i) : expand_collective(i);
  return alone ? alone : i;
}

Instruction* expand_device_id(Instruction* i) {
  bool one = i->is(Op::replica_id) ? i->module()->replica_count == 1 : i->module()->num_partitions == 1;
  return one ? Build(i).scalar_int(DType::kU32, 0) : nullptr;
}

}  // namespace armillary
