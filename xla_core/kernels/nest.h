// The loop nest of a kernel: which dimensions are loops of their own, which one runs in lanes, what is left
// for threads.
#pragma once

#include <functional>
#include <set>
#include <unordered_map>
#include <vector>

#include "xla_core/kernels/elements.h"

namespace armillary::kernels {

// A loop over part of a linear space: digits of `extent` that count for `stride` elements.
struct Factor {
  int64_t extent = 1;
  int64_t stride = 1;
};

// Where the linear space of an instruction's result must be cut into digits, because something that it reads
// does not run through in the same order: strides strictly between 1 and the element count.
class Cuts {
 public:
  explicit Cuts(const Site& site);
  const std::set<int64_t>& of(const Instruction* i) const { return cuts_.at(i); }

 private:
  std::set<int64_t> compute(const Instruction* i) const;
  std::set<int64_t> of_map(const Instruction* i, const std::vector<int64_t>& operand_dim) const;
  const Site& site_;
  std::unordered_map<const Instruction*, std::set<int64_t>> cuts_;
};

// All boundaries between dimensions larger than one.
std::set<int64_t> dimension_cuts(const Dims& dims);

// The space of `total` elements between the cuts, outermost first. Cuts that do not fit the others are left
// out. The innermost factor has at least `least` iterations if it can, at the price of a division per
// element.
std::vector<Factor> factors_of(int64_t total, const std::set<int64_t>& cuts, int64_t least = 8);

// The digits of `linear`, which counts through these factors; their own strides stay.
std::vector<Digit> digits_of(KernelBuilder& b, const std::vector<Factor>& factors, Val linear);

// Runs `body` for every element: the outermost loop for threads, then loops, then a lane loop; sets the
// kernel's extent. `cost`: rough operations an element.
void loop_nest(KernelBuilder& b, std::vector<Factor> factors, double cost,
               const std::function<void(const Index&)>& body);

}  // namespace armillary::kernels
