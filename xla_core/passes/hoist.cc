#include "xla_core/passes/hoist.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace armillary {
namespace {

constexpr int64_t kSmallBytes = 1 << 12;  // below this a hoisted value may be larger than what it is made of

bool is_movable(const Instruction& i) {
  bool special = i.is(Op::parameter) || i.is(Op::tuple) || i.is(Op::get_tuple_element) ||
                 i.is(Op::opt_barrier) || i.is(Op::copy) || i.is(Op::custom_call);
  return !special && !i.has_effect() && !i.has(kCallsControl) && !i.has(kCollective) && !i.has(kAsyncStart) &&
         !i.has(kAsyncDone) && i.shape().is_array() && i.control_predecessors().empty();
}

// Cheaper to say again than to carry; but what is transposed is better read in order.
bool is_free(const Instruction& i) {
  return i.has(kFree) ? !i.is(Op::transpose) : i.has(kElementwise) && !i.has(kExpensive);
}

bool shrinks(const Instruction& i) {
  int64_t read = 0;
  for (const Instruction* o : i.operands()) read += o->shape().is_array() ? o->shape().byte_size() : 0;
  return i.shape().byte_size() <= std::max(read, kSmallBytes);
}

class Hoister {
 public:
  explicit Hoister(Loop& loop) : loop_(loop) {
    for (int64_t k = 0; k < loop.size(); ++k)
      if (loop.is_unchanged(k))
        for (Instruction* read : Loop::reads(*loop.body(), k)) outside_[read] = loop.initial(k);
    for (Instruction* i : loop.body()->instructions())
      if (outside_.contains(i) || (is_movable(*i) && all_invariant(*i))) invariant_.insert(i);
  }

  bool run(const PassContext& context) {
    std::vector<Instruction*> moved;
    for (Instruction* i : loop_.body()->instructions())
      if (is_worth_it(*i) && context.spend(i)) moved.push_back(i);
    if (moved.empty()) return false;
    copy_outside(moved);
    std::vector<Instruction*> values;
    for (const Instruction* i : moved) values.push_back(outside_.at(i));
    std::vector<Instruction*> reads = loop_.append_unchanged(values);
    for (size_t n = 0; n < moved.size(); ++n) moved[n]->replace_all_uses_with(reads[n]);
    return true;
  }

 private:
  bool all_invariant(const Instruction& i) const {
    return std::all_of(i.operands().begin(), i.operands().end(),
                       [&](const Instruction* o) { return invariant_.contains(o); });
  }

  // Invariant, dear enough, and read by something that varies (else its reader is hoisted and takes it
  // along).
  bool is_worth_it(const Instruction& i) const {
    if (!invariant_.contains(&i) || outside_.contains(&i) || is_free(i) || !shrinks(i)) return false;
    return std::any_of(i.users().begin(), i.users().end(), [&](const Instruction* u) {
      return !invariant_.contains(u) || is_free(*u) || !shrinks(*u);
    });
  }

  // With all they need, in the body's order: operands first.
  void copy_outside(std::vector<Instruction*> work) {
    std::unordered_set<const Instruction*> needed;
    while (!work.empty()) {
      Instruction* i = work.back();
      work.pop_back();
      if (!outside_.contains(i) && needed.insert(i).second)
        work.insert(work.end(), i->operands().begin(), i->operands().end());
    }
    for (const Instruction* i : loop_.body()->instructions()) {
      if (!needed.contains(i)) continue;
      std::vector<Instruction*> operands;
      for (const Instruction* o : i->operands()) operands.push_back(outside_.at(o));
      outside_[i] = loop_.instruction()->parent()->clone(*i, std::move(operands), loop_.instruction());
    }
  }

  Loop& loop_;
  std::unordered_map<const Instruction*, Instruction*> outside_;  // what has the same value outside the loop
  std::unordered_set<const Instruction*> invariant_;
};

}  // namespace

bool hoist_invariants(Loop& loop, const PassContext& context) { return Hoister(loop).run(context); }

}  // namespace armillary
