#include "xla_core/hlo/async_operands.h"

namespace armillary {

Instruction* started_by(const Instruction& i) {
  Instruction* start = i.num_operands() > 0 ? i.operand(0) : nullptr;
  while (start != nullptr && start->is(Op::async_update) && start->num_operands() > 0)
    start = start->operand(0);
  return start;
}

Instruction* async_start_of(const Instruction& i) {
  Instruction* start = started_by(i);
  return start != nullptr && start->is(Op::async_start) ? start : nullptr;
}

std::vector<Instruction*> async_operands(const Instruction& i) {
  const Instruction* start = async_start_of(i);
  if (start == nullptr) return {};
  std::vector<Instruction*> late;  // from the last update to the first
  for (const Instruction* link = i.is(Op::async_update) ? &i : i.operand(0); link != start;
       link = link->operand(0))
    for (int64_t k = link->num_operands() - 1; k > 0; --k) late.push_back(link->operand(k));
  std::vector<Instruction*> all(start->operands().begin(), start->operands().end());
  all.insert(all.end(), late.rbegin(), late.rend());
  return all;
}

}  // namespace armillary
