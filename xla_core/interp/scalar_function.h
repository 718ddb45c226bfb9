// A computation on scalars, seen as a function that maps many elements at once.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "xla_core/hlo/module.h"
#include "xla_core/interp/tape_eval.h"

namespace armillary {

class Evaluation;

// Bodies that consist of elementwise ops become one tape; any other is run once an element.
class ScalarFunction {
 public:
  ScalarFunction(const Computation& computation, Evaluation& evaluation);

  int64_t num_results() const { return static_cast<int64_t>(result_shapes_.size()); }
  const Shape& result_shape(int64_t i) const { return result_shapes_[i]; }

  // Results for columns of `count` elements each (or of one, which then stands for all). Columns are
  // converted to the parameters' dtypes where they differ, as happens when a reduction accumulates in a wider
  // type.
  std::vector<Literal> map(std::span<const Literal> columns, int64_t count);

  // One application, on elements in memory; for callers that cannot batch. Types must be the parameters'.
  void apply(std::span<const std::byte* const> arguments, std::span<std::byte* const> results);
  // The same for a predicate.
  bool test(std::span<const std::byte* const> arguments);

 private:
  std::vector<Literal> map_slowly(std::span<const Literal> columns, int64_t count);

  const Computation& computation_;
  Evaluation& evaluation_;
  std::vector<DType> parameter_dtypes_;
  std::vector<Shape> result_shapes_;
  bool has_program_ = false;
  TapeProgram program_;
  std::unique_ptr<TapeRunner> runner_;  // of one lane, for apply()
  std::vector<ArrayView> views_;
};

}  // namespace armillary
