#include "xla_core/analysis/cost.h"

#include <algorithm>

#include "xla_core/analysis/scalar_cost.h"
#include "xla_core/analysis/trip_count.h"

namespace armillary {
namespace {

double elements(const Shape& shape) {
  double n = 0;
  for (const Shape* leaf : leaves_of(shape))
    n = std::max(n, leaf->is_array() ? static_cast<double>(leaf->num_elements()) : 0);
  return n;
}

double bytes(const Shape& shape) {
  double n = 0;
  for (const Shape* leaf : leaves_of(shape))
    n += leaf->is_array() ? static_cast<double>(leaf->byte_size()) : 0;
  return n;
}

double bytes_read(const Instruction& i, int64_t k) {
  if (!i.def().bytes_read) return bytes(i.operand(k)->shape());
  const auto storage = i.context_storage();
  return i.def().bytes_read(storage.context(i.attrs(), &i.shape()), static_cast<int>(k), i.shape());
}

double bytes_written(const Instruction& i) {
  if (!i.def().bytes_written) return bytes(i.shape());
  const auto storage = i.context_storage();
  return i.def().bytes_written(storage.context(i.attrs(), &i.shape()), i.shape());
}

// A parameter of a body that only slices look into is read in parts.
double bytes_read_of_parameter(const Instruction& parameter) {
  double read = 0;
  for (const Instruction* user : parameter.users())
    for (int64_t k = 0; k < user->num_operands(); ++k)
      if (user->operand(k) == &parameter) read += bytes_read(*user, k);
  return std::min(read, bytes(parameter.shape()));
}

double traffic(const Instruction& i) {
  if (i.has(kRenames) || i.has(kNoTraffic)) return 0;
  double total = 0;
  if (!i.is(Op::fusion)) {
    for (int64_t k = 0; k < i.num_operands(); ++k) total += bytes_read(i, k);
    return total + bytes_written(i);
  }
  const Computation* body = i.callees()[0];
  for (const Instruction* p : body->parameters()) total += bytes_read_of_parameter(*p);
  const Instruction* root = body->root();
  if (!root->is(Op::tuple)) return total + bytes_written(*root);
  for (const Instruction* o : root->operands()) total += bytes_written(*o);
  return total;
}

Cost arithmetic(const Instruction& i) {
  Cost cost;
  if (i.has(kCallsEmbedded)) {
    if (!i.def().body_runs) return cost;
    const auto storage = i.context_storage();
    const double runs = i.def().body_runs(storage.context(i.attrs(), &i.shape()), i.shape());
    for (const Computation* body : i.callees()) {
      const ScalarCost one = scalar_cost(*body);
      cost.flops += runs * one.flops;
      cost.transcendentals += runs * one.transcendentals;
    }
    return cost;
  }
  const double n = elements(i.shape());
  const ScalarCost one = scalar_cost(i);
  cost.flops = n * one.flops;
  cost.transcendentals = n * one.transcendentals;
  if (i.def().flops && i.shape().is_array()) {
    Instruction::ContextStorage storage = i.context_storage();
    cost.flops += n * i.def().flops(storage.context(i.attrs(), &i.shape()), i.shape());
  }
  return cost;
}

Cost dearest(const std::vector<Computation*>& branches) {
  Cost most;
  for (const Computation* c : branches)
    if (Cost cost = cost_of(*c); cost.flops + cost.bytes >= most.flops + most.bytes) most = cost;
  return most;
}

}  // namespace

Cost& Cost::operator+=(const Cost& other) {
  flops += other.flops;
  transcendentals += other.transcendentals;
  bytes += other.bytes;
  unknown_loops += other.unknown_loops;
  return *this;
}

Cost operator*(double n, Cost cost) {
  cost.flops *= n;
  cost.transcendentals *= n;
  cost.bytes *= n;
  return cost;
}

Cost cost_of(const Instruction& i) {
  Cost cost;
  if (i.is(Op::while_)) {
    for (const Computation* c : i.callees()) cost += cost_of(*c);
    std::optional<Induction> induction = induction_of(i);
    if (induction) return static_cast<double>(induction->trips) * cost;
    ++cost.unknown_loops;
    return cost;
  }
  if (i.is(Op::conditional)) return dearest(i.callees());
  if (i.has(kCallsControl)) return cost_of(*i.callees()[0]);
  if (i.is(Op::fusion)) {
    for (const Instruction* inner : i.callees()[0]->instructions()) cost += arithmetic(*inner);
  } else {
    cost = arithmetic(i);
  }
  cost.bytes = traffic(i);
  return cost;
}

Cost cost_of(const Computation& computation) {
  Cost cost;
  for (const Instruction* i : computation.instructions()) cost += cost_of(*i);
  return cost;
}

Cost cost_of(const Module& module) { return cost_of(*module.entry()); }

}  // namespace armillary
