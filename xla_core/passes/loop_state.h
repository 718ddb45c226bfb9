// A while loop whose state is a tuple that only get-tuple-elements look into; and edits of that state.
#pragma once

#include <optional>
#include <vector>

#include "xla_core/hlo/module.h"

namespace armillary {

class Loop {
 public:
  // nullopt when the loop is of another form.
  static std::optional<Loop> of(Instruction* loop);

  Instruction* instruction() const { return loop_; }
  Computation* condition() const { return condition_; }
  Computation* body() const { return body_; }
  int64_t size() const { return loop_->operand(0)->num_operands(); }
  Instruction* initial(int64_t k) const { return loop_->operand(0)->operand(k); }
  Instruction* next(int64_t k) const { return body_->root()->operand(k); }
  bool is_unchanged(int64_t k) const;  // the body hands it on
  bool is_read_after(int64_t k) const;
  // Reads of element k in the condition or the body.
  static std::vector<Instruction*> reads(const Computation& c, int64_t k);

  // Keeps the elements for which keep[k]; nothing may read the others any more, but for body results that go
  // with them.
  void drop(const std::vector<bool>& keep);
  // Adds elements that the body hands on; returns their reads in the body, in order.
  std::vector<Instruction*> append_unchanged(const std::vector<Instruction*>& values);

 private:
  explicit Loop(Instruction* loop);
  void set_state(std::vector<Instruction*> initial, std::vector<Instruction*> next);

  Instruction* loop_;
  Computation *condition_, *body_;
};

}  // namespace armillary
