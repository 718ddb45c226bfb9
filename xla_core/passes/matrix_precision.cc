// Products of f32 matrices with the precision of a unit that multiplies bf16 and sums in f32.
#include "xla_core/analysis/precision.h"
#include "xla_core/passes/build.h"
#include "xla_core/passes/passes.h"

namespace armillary {
namespace {

constexpr int64_t kExponentBits = 8, kMantissaBits = 7;  // of bf16

Instruction* as_bf16(Build& b, Instruction* x) {
  Attrs attrs;
  attrs.set(Attr::exponent_bits, kExponentBits);
  attrs.set(Attr::mantissa_bits, kMantissaBits);
  return b.add(Op::reduce_precision, {x}, std::move(attrs));
}

// x = high + low + something smaller.
struct Parts {
  Instruction *high, *low;
};
Parts split(Build& b, Instruction* x) {
  Instruction* high = as_bf16(b, x);
  return {high, as_bf16(b, b.add(Op::subtract, {x, high}))};
}

bool is_product_of_f32(const Instruction& i) {
  const bool contracts = i.is(Op::dot) || i.is(Op::convolution);
  return contracts && i.operand(0)->dtype() == DType::kF32 && i.operand(1)->dtype() == DType::kF32;
}

// Six passes keep every bit of f32 that its own sum would: nothing to round.
constexpr int kExact = 6;

void lower(Instruction* i, int passes) {
  Build b(i);
  if (passes == 1) {
    for (int64_t k : {0, 1}) i->replace_operand(k, as_bf16(b, i->operand(k)));
    return;
  }
  const Parts x = split(b, i->operand(0)), y = split(b, i->operand(1));
  Instruction* small = b.add(Op::add, {b.clone(*i, {x.high, y.low}), b.clone(*i, {x.low, y.high})});
  Instruction* sum = b.add(Op::add, {small, b.clone(*i, {x.high, y.high})});
  i->replace_all_uses_with(sum);
  i->parent()->erase(i);
}

}  // namespace

bool matrix_precision(Module& module, const PassContext& context) {
  bool changed = false;
  for (Computation* computation : module.reachable())
    for (Instruction* i : computation->snapshot()) {
      const int passes = is_product_of_f32(*i) ? matrix_passes(*i) : kExact;
      if (passes >= kExact || !context.spend(i)) continue;
      lower(i, passes);
      changed = true;
    }
  return changed;
}

}  // namespace armillary
