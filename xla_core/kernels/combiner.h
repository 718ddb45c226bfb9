// The computation of a reduce, a reduce-window or a scan, as something to accumulate with.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "xla_core/hlo/module.h"
#include "xla_core/kernels/builder.h"

namespace armillary::kernels {

// A reduce has no order, so narrow floats are summed and multiplied in f32 and rounded once at the end.
// Windows do have one: programs that sum by windows (cumsum) are written for one rounding a step.
class Combiner {
 public:
  explicit Combiner(const Instruction& user);

  // In accumulators' dtypes.
  std::vector<Val> widen(KernelBuilder& b, std::span<const Val> x) const;
  std::vector<Val> narrow(KernelBuilder& b, std::span<const Val> accumulated) const;
  // combine(accumulated, x); both in accumulators' dtypes.
  std::vector<Val> combine(KernelBuilder& b, std::span<const Val> accumulated, std::span<const Val> x) const;
  // What leaves every x as it is (but for the sign of zeros); nullopt when we do not know it.
  std::optional<std::vector<Val>> identity(KernelBuilder& b) const;
  // Whether x and y may change places: of computations that we do not know, some keep the first of two
  // equals.
  bool commutes() const { return op_ != nullptr; }
  // Whether parts may be combined first, and the initial value last.
  bool associates() const { return associates_; }
  int64_t size() const { return static_cast<int64_t>(dtypes_.size()); }
  DType accumulator_dtype(int64_t i) const { return dtypes_[i]; }

 private:
  const Computation& computation_;
  const OpDef* op_;  // when it is one operation on its two parameters, which has an identity; else nullptr
  bool associates_;
  std::vector<DType> dtypes_;
};

}  // namespace armillary::kernels
