#include "xla_core/analysis/scalar_cost.h"

#include <map>
#include <mutex>
#include <tuple>

#include "xla_core/hlo/module.h"

namespace armillary {
namespace {

bool is_bookkeeping(Prim p) {
  switch (p) {
    case Prim::kArg:
    case Prim::kConst:
    case Prim::kIndex:
    case Prim::kLoad:
    case Prim::kConvert:
    case Prim::kBitcast:
      return true;
    default:
      return false;
  }
}

bool is_transcendental(Prim p) { return p >= Prim::kCbrt && p <= Prim::kAtanh; }

double cycles(Prim p) {
  if (p == Prim::kArg || p == Prim::kConst) return 0;
  if (p == Prim::kDiv || p == Prim::kRem || p == Prim::kSqrt || p == Prim::kRsqrt) return 5;
  return is_transcendental(p) ? 20 : 1;
}

ScalarCost count(const Tape& tape) {
  ScalarCost cost;
  for (const TapeNode& node : tape.nodes) {
    cost.work += cycles(node.prim);
    cost.transcendentals += is_transcendental(node.prim);
    cost.flops += !is_bookkeeping(node.prim) && !is_transcendental(node.prim);
  }
  return cost;
}

}  // namespace

Tape scalar_recipe(const Instruction& instr) {
  Tape tape;
  TapeBuilder builder(tape);
  std::vector<Val> args;
  for (int64_t i = 0; i < instr.num_operands(); ++i)
    args.push_back(builder.arg(static_cast<int>(i), instr.operand(i)->dtype()));
  Instruction::ContextStorage storage = instr.context_storage();
  instr.def().scalar(builder, args, storage.context(instr.attrs(), &instr.shape()), instr.dtype());
  return tape;
}

ScalarCost scalar_cost(const Instruction& instr) {
  if (instr.def().meaning != Meaning::kScalar || !instr.def().scalar) return {};
  // Recipes depend on dtypes and hardly on attributes; thousands of adds need one count.
  using Key = std::tuple<Op, DType, DType>;
  static std::mutex mutex;
  static std::map<Key, ScalarCost> known;
  Key key{instr.op(), instr.dtype(),
          instr.num_operands() ? instr.operand(instr.num_operands() - 1)->dtype() : DType::kInvalid};
  std::lock_guard lock(mutex);
  auto [cost, fresh] = known.try_emplace(key);
  if (fresh) cost->second = count(scalar_recipe(instr));
  return cost->second;
}

ScalarCost scalar_cost(const Computation& body) {
  ScalarCost total;
  for (const Instruction* i : body.instructions()) {
    ScalarCost one = scalar_cost(*i);
    total.flops += one.flops;
    total.transcendentals += one.transcendentals;
    total.work += one.work;
  }
  return total;
}

}  // namespace armillary
