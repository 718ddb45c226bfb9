#include "xla_core/backends/tpu/vmem.h"

#include <algorithm>

namespace armillary::tpu {
namespace {

constexpr int64_t kLongestLife = 4096;  // ticks; longer ones would push out many others

int64_t life(const Value& value) {
  int64_t ticks = 0;
  for (const Segment& s : value.segments) ticks += s.end - s.begin + 1;
  return ticks;
}

int64_t last_tick(const Values& values) {
  int64_t last = 0;
  for (int32_t v = 0; v < values.size(); ++v)
    for (const Segment& s : values.at(v).segments) last = std::max(last, s.end);
  return last;
}

// What links and the host reach lies in HBM.
std::unordered_set<int32_t> bound_to_hbm(const Module& module, const Values& values) {
  std::unordered_set<int32_t> bound;
  auto bind = [&](const Instruction* i) {
    if (values.knows(i)) bound.insert(values.of(i).begin(), values.of(i).end());
  };
  bind(module.entry()->root());
  for (const Computation* c : module.control_computations())
    for (const Instruction* i : c->instructions()) {
      if (!i->has(kCollective) && !i->is(Op::async_start) && !i->has_effect()) continue;
      bind(i);
      for (const Instruction* o : i->operands()) bind(o);
    }
  return bound;
}

}  // namespace

Residents::Residents(const Module& module, const Values& values, int64_t capacity) {
  const std::unordered_set<int32_t> bound = bound_to_hbm(module, values);
  std::vector<int32_t> candidates;
  for (int32_t v = 0; v < values.size(); ++v) {
    const Value& value = values.at(v);
    if (value.kind == Value::kDefined && value.size <= capacity && !bound.contains(v) &&
        life(value) <= kLongestLife)
      candidates.push_back(v);
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](int32_t a, int32_t b) { return life(values.at(a)) < life(values.at(b)); });
  std::vector<int64_t> used(last_tick(values) + 1, 0);
  for (int32_t v : candidates) {
    const Value& value = values.at(v);
    bool fits = true;
    for (const Segment& s : value.segments)
      for (int64_t t = s.begin; fits && t <= s.end; ++t) fits = used[t] + value.size <= capacity;
    if (!fits) continue;
    for (const Segment& s : value.segments)
      for (int64_t t = s.begin; t <= s.end; ++t) used[t] += value.size;
    inside_.insert(v);
  }
}

}  // namespace armillary::tpu
