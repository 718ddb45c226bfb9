// Inside the interpreter: one evaluation's caches, and the table of handlers for ops that have no recipe.
#pragma once

#include <memory>
#include <unordered_map>

#include "xla_core/hlo/module.h"
#include "xla_core/interp/scalar_function.h"
#include "xla_core/interp/tape_eval.h"

namespace armillary {

using Operands = std::span<const Literal>;

class Evaluation {
 public:
  Evaluation();
  ~Evaluation();

  // Values die after their last use. Guards against endless nesting.
  Literal run(const Computation& computation, Operands args);
  Literal run(const Instruction& instruction, Operands operands);

  // The computation as a function of columns; made once. For bodies of map, reduce, sort, scatter.
  ScalarFunction& function(const Computation& computation);
  // The instruction's recipe, written down once.
  const TapeProgram& program(const Instruction& instruction);

  // A fresh seed for ops whose randomness has no state in the program: the same in every run.
  uint64_t next_seed() { return ++seeds_; }

 private:
  struct Plan;
  const Plan& plan(const Computation& computation);

  std::unordered_map<const Computation*, std::unique_ptr<Plan>> plans_;
  std::unordered_map<const Computation*, std::unique_ptr<ScalarFunction>> functions_;
  std::unordered_map<const Instruction*, TapeProgram> programs_;
  int depth_ = 0;
  uint64_t seeds_ = 0;
};

// What a handler is given: the values of the operands, in order.
using Handler = Literal (*)(Evaluation&, const Instruction&, Operands);
struct HandlerRow {
  Op op;
  Handler handler;
};
// Grouped as the files are.
std::span<const HandlerRow> structure_handlers();
std::span<const HandlerRow> data_movement_handlers();
std::span<const HandlerRow> control_handlers();
std::span<const HandlerRow> reduction_handlers();
std::span<const HandlerRow> window_handlers();
std::span<const HandlerRow> sorting_handlers();
std::span<const HandlerRow> scatter_handlers();
std::span<const HandlerRow> dot_handlers();
std::span<const HandlerRow> convolution_handlers();
std::span<const HandlerRow> fft_handlers();
std::span<const HandlerRow> linear_algebra_handlers();
std::span<const HandlerRow> random_handlers();
std::span<const HandlerRow> batch_norm_handlers();
std::span<const HandlerRow> custom_call_handlers();

// A tuple, or the only element itself: what a variadic op returns for one operand.
Literal tuple_or_single(std::vector<Literal> results, const Shape& shape);
// `literal` as `shape`, sharing memory; an internal error when it has another size or dtype.
Literal with_shape(Literal literal, const Shape& shape);

// The k largest (or least) of the last dimension by totalorder and their positions, ties in order; `shape` is
// the result's tuple.
Literal top_k(const Literal& input, bool largest, const Shape& shape);

}  // namespace armillary
