#include "xla_core/backends/tpu/vector_cost.h"

#include <cmath>

#include "xla_core/analysis/scalar_cost.h"

namespace armillary::tpu {
namespace {

using sim::VectorOp;

constexpr int64_t kPartsOfWide = 4;  // assumed: 32-bit instructions for one of 64 bits

struct KindOfPrim {
  Prim first, last;
  VectorOp kind;
};
// Ranges of the enum in its order; what is in none (arguments, constants, loads) costs nothing.
constexpr KindOfPrim kKinds[] = {
    {Prim::kAdd, Prim::kMul, VectorOp::kArithmetic},   {Prim::kDiv, Prim::kRem, VectorOp::kDivide},
    {Prim::kMin, Prim::kSign, VectorOp::kArithmetic},  {Prim::kAnd, Prim::kMulHi, VectorOp::kInteger},
    {Prim::kEq, Prim::kSelect, VectorOp::kSelect},     {Prim::kConvert, Prim::kConvert, VectorOp::kConvert},
    {Prim::kFma, Prim::kTrunc, VectorOp::kArithmetic}, {Prim::kSqrt, Prim::kAtanh, VectorOp::kTranscendental},
};

VectorOp kind_of(const TapeNode& node, VectorOp kind) {
  return kind == VectorOp::kArithmetic && is_integral(node.dtype) ? VectorOp::kInteger : kind;
}

}  // namespace

sim::VectorWork vector_cost(const Instruction& instr) {
  sim::VectorWork work{};
  if (instr.def().meaning != Meaning::kScalar || !instr.def().scalar) return work;
  for (const TapeNode& node : scalar_recipe(instr).nodes) {
    // Recipes widen narrow floats at every step; a compiler does so once, at the `convert` that says so.
    if (node.prim == Prim::kConvert && !instr.is(Op::convert)) continue;
    for (const KindOfPrim& row : kKinds) {
      if (node.prim < row.first || node.prim > row.last) continue;
      const int64_t parts = bit_width(node.dtype) > 32 ? kPartsOfWide : 1;
      work[static_cast<size_t>(kind_of(node, row.kind))] += parts;
    }
  }
  return work;
}

sim::VectorWork vector_cost(const Computation& body) {
  sim::VectorWork total{};
  for (const Instruction* i : body.instructions()) add_work(total, vector_cost(*i), 1);
  return total;
}

void add_work(sim::VectorWork& work, const sim::VectorWork& one, double times) {
  for (size_t k = 0; k < work.size(); ++k)
    work[k] += static_cast<int64_t>(std::ceil(static_cast<double>(one[k]) * times));
}

}  // namespace armillary::tpu
