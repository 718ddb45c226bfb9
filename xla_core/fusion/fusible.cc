#include "xla_core/fusion/fusible.h"

#include <algorithm>

#include "xla_core/analysis/scalar_cost.h"

namespace armillary {
namespace {

constexpr double kCheapCycles = 8;   // about what a load from the second-level cache costs
constexpr int64_t kMaxPieces = 16;   // of a concatenation
constexpr int kLongestEpilogue = 8;  // instructions that are looked through for a contraction

bool is_plain_array(const Shape& shape) { return shape.is_array() && !shape.is_dynamic(); }

bool has_plain_arrays(const Instruction& instr) {
  for (const Instruction* o : instr.operands())
    if (!is_plain_array(o->shape())) return false;
  if (instr.is(Op::reduce) && instr.shape().is_tuple())
    return true;  // several results side by side, as in argmax
  return is_plain_array(instr.shape());
}

}  // namespace

bool is_scalar_constant(const Instruction& instr) {
  return instr.is(Op::constant) && instr.shape().is_scalar();
}

bool is_alias(const Instruction& instr) {
  return instr.has(kRenames) && instr.def().meaning == Meaning::kIndex;
}

bool is_made_up(const Instruction& instr) {
  return instr.is(Op::broadcast) || instr.is(Op::iota) || instr.is(Op::constant);
}

bool is_running_window(const Instruction& instr) {
  if (!instr.is(Op::reduce_window)) return false;
  const Dims& dims = instr.operand(0)->dims();
  bool runs = false;
  for (size_t d = 0; d < dims.size(); ++d) {
    const WindowDim& w = instr.attrs().window().dims[d];
    if (w.size == 1) continue;
    runs = w.size == dims[d] && w.pad_low + w.pad_high == dims[d] - 1;
    if (!runs) return false;
  }
  return runs;
}

bool is_root_only(const Instruction& instr) {
  return instr.has(kOverwrites) || instr.shape().is_tuple() || is_running_window(instr);
}

bool is_contraction(const Instruction& instr) {
  return instr.def().meaning == Meaning::kFactors && !instr.has(kCallsEmbedded);
}

bool follows_contraction(const Instruction& instr) {
  const Instruction* i = &instr;
  for (int steps = 0; steps < kLongestEpilogue; ++steps) {
    if (i->def().meaning != Meaning::kScalar && !is_alias(*i) && !i->is(Op::transpose)) return false;
    const Instruction* next = nullptr;
    for (const Instruction* o : i->operands()) {
      if (o->users().size() != 1 || o->shape().num_elements() != instr.shape().num_elements()) continue;
      if (is_contraction(*o)) return true;
      next = o;
    }
    if (next == nullptr) return false;
    i = next;
  }
  return false;
}

bool is_fusible(const Instruction& instr, const FusionPolicy& policy) {
  if (instr.has_effect() || instr.has(kCannotRun) || instr.has(kCollective) || !has_plain_arrays(instr))
    return false;
  if (is_contraction(instr)) return policy.contractions;
  if (instr.is(Op::gather)) return policy.gathers;
  if (instr.is(Op::constant)) return is_scalar_constant(instr) && !instr.literal().elided();
  if (instr.is(Op::copy)) return false;  // it is there for memory of its own
  if (instr.has(kPiecewise) && instr.num_operands() > kMaxPieces) return false;
  const Meaning m = instr.def().meaning;
  return instr.def().is_pointwise() || m == Meaning::kIndex || m == Meaning::kFactors;
}

Price price_of(const Instruction& instr) {
  if (instr.has(kFree)) return Price::kFree;
  if (instr.has(kExpensive)) return Price::kCostly;
  if (instr.def().meaning == Meaning::kIndex) return Price::kCheap;
  return scalar_cost(instr).work <= kCheapCycles ? Price::kCheap : Price::kCostly;
}

bool reads_same_index(const Instruction& instr, int64_t operand) {
  if (is_alias(instr)) return instr.operand(0)->shape().num_elements() == instr.shape().num_elements();
  return instr.def().is_pointwise() && instr.operand(operand)->dims() == instr.dims();
}

double reads_per_element(const Instruction& instr, int64_t operand) {
  if (is_running_window(instr)) return 1;
  // Tiles of the operands pass by once; each element is prepared when its tile comes in.
  if (is_contraction(instr))
    return static_cast<double>(instr.operand(operand)->shape().num_elements()) /
           std::max(1.0, static_cast<double>(instr.shape().num_elements()));
  if (!instr.def().reads) return 1;
  const auto storage = instr.context_storage();
  return instr.def().reads(storage.context(instr.attrs(), &instr.shape()), static_cast<int>(operand));
}

}  // namespace armillary
