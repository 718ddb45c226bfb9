// Random instances of the patterns that rewrite rules match.
#pragma once

#include <array>

#include "xla_core/passes/match.h"
#include "xla_core/passes/testing/values.h"

namespace armillary::testing {

// Thrown when an attempt cannot be finished.
struct Miss {};

// 0 .. n-1 in any order.
Dims shuffled(Rng& rng, int64_t n);

// Builds programs top down: each pattern is asked for an instruction of a given shape and invents operands
// for it. What it makes may be ill-typed or miss the rule's guard; callers verify and try again.
class Sampler {
 public:
  explicit Sampler(Rng& rng)
      : rng_(rng), module_(std::make_unique<Module>("sample")), entry_(module_->add_computation("main")) {
    module_->set_entry(entry_);
  }

  // A module whose root is an instance of the pattern; nullptr when the attempt failed.
  std::unique_ptr<Module> sample(const Pat& pattern);

 private:
  Instruction* make(const Pat& pattern, const Shape& shape);
  Instruction* make_op(const Pat& pattern, const Shape& shape);
  Instruction* leaf(const Shape& shape);
  Instruction* constant(const Shape& shape, double value);
  Instruction* random_splat(const Shape& shape);
  Instruction* in(const Pat& pattern, size_t k, const Shape& shape);  // operand k
  Instruction* add(Op op, const Shape& shape, std::vector<Instruction*> operands, Attrs attrs = {});
  Shape random_shape();
  DType random_dtype();
  DType operand_dtype(Op op, DType result, size_t k);

  Instruction* elementwise(const Pat& p, const Shape& shape);
  Instruction* reshape(const Pat& p, const Shape& shape);
  Instruction* transpose(const Pat& p, const Shape& shape);
  Instruction* broadcast(const Pat& p, const Shape& shape);
  Instruction* slice(const Pat& p, const Shape& shape);
  Instruction* pad(const Pat& p, const Shape& shape);
  Instruction* concatenate(const Pat& p, const Shape& shape);
  Instruction* reverse(const Pat& p, const Shape& shape);
  Instruction* reduce(const Pat& p, const Shape& shape);
  Instruction* dot(const Pat& p, const Shape& shape);
  Instruction* dynamic_slice(const Shape& shape);
  Instruction* dynamic_update_slice(const Shape& shape);
  Instruction* gather(const Pat& p, const Shape& shape);
  Instruction* scatter(const Pat& p, const Shape& shape);
  Instruction* convolution(const Pat& p, const Shape& shape);
  Instruction* sort(const Shape& shape);
  Computation* combiner(DType dtype);
  std::vector<Instruction*> random_starts(const Dims& dims);

  Rng& rng_;
  std::unique_ptr<Module> module_;
  Computation* entry_;
  int64_t parameters_ = 0;
  std::array<Instruction*, 26> bound_{};
};

}  // namespace armillary::testing
