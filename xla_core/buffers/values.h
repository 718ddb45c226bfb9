// Which arrays of a module are memory of their own, and when each is alive.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "xla_core/hlo/module.h"
#include "xla_core/target/target.h"

namespace armillary {

// Ticks come in pairs: an instruction at position t reads at 2t and its operands are still needed at 2t+1;
// its results exist from 2t.
struct Segment {
  int64_t begin = 0, end = 0;  // both included
  friend bool operator==(const Segment&, const Segment&) = default;
};

struct Value {
  enum Kind : uint8_t { kDefined, kParameter, kConstant } kind = kDefined;
  const Instruction* instruction = nullptr;
  int64_t leaf = 0;  // of the instruction's shape
  int64_t size = 0;  // bytes
  std::vector<Segment> segments;
};

// Two values that would like to share memory: `from` is copied to `to` unless they do.
struct SharingWish {
  int32_t from = -1, to = -1;
  int64_t tick = 0;  // from's last needed tick may be this + 1; it is read at `tick`
  int priority = 0;  // lower first
};

// Loops reuse their state's memory each round: the value of a while leaf is alive from the start of the loop
// to its last use in the body, and again from the end of the body on; in between, the next round's value may
// take its place.
class Values {
 public:
  Values(const Module& module, const Target& target);

  // One id per leaf of the instruction's shape; -1 for tokens and opaque values.
  const std::vector<int32_t>& of(const Instruction* i) const { return leaves_.at(i); }
  bool knows(const Instruction* i) const { return leaves_.count(i) > 0; }
  const Value& at(int32_t id) const { return values_[id]; }
  int32_t size() const { return static_cast<int32_t>(values_.size()); }
  const std::vector<SharingWish>& wishes() const { return wishes_; }
  // The tick at which an instruction reads its operands.
  int64_t tick(const Instruction* i) const { return tick_.at(i); }

 private:
  struct Scope {  // a loop body, a branch, or the entry
    int parent = -1;
    bool loop = false;
    std::vector<int32_t> used_from_outside;
  };
  int32_t define(const Instruction* i, int64_t leaf, Value::Kind kind, int scope);
  void use(int32_t value, int64_t tick, int scope);
  void visit(const Computation& c, int scope);
  void visit(const Instruction* i, int scope);
  void visit_async_start(const Instruction* i, int scope);
  void visit_async_done(const Instruction* i, int scope);
  void visit_while(const Instruction* i, int scope);
  void visit_conditional(const Instruction* i, int scope);
  void visit_call(const Instruction* i, int scope);
  void close_loop(int scope);
  std::vector<int32_t> define_all(const Instruction* i, Value::Kind kind, int scope);
  bool may_take_over(const Instruction& i, int32_t value, int64_t leaf) const;
  void wish(int32_t from, int32_t to, int64_t tick, int priority);

  const Target& target_;
  std::vector<Value> values_;
  std::vector<int> scope_of_;  // per value: where it was defined
  std::vector<Scope> scopes_;
  std::unordered_map<const Instruction*, std::vector<int32_t>> leaves_;
  std::unordered_map<const Instruction*, int64_t> tick_;
  std::vector<SharingWish> wishes_;
  int64_t now_ = 0;
};

}  // namespace armillary
