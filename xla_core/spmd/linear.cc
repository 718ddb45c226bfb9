#include "xla_core/spmd/linear.h"

#include <algorithm>

#include "xla_core/hlo/associative.h"
#include "xla_core/ops/tape.h"

namespace armillary {
namespace {

// What a node of a recipe is of the summed operands: independent of them, a linear combination of them, or
// neither. Zero is both of the former. Recipes move narrow floats as bits.
enum class Kind : uint8_t { kZero, kFixed, kLinear, kBitsOfLinear, kOther };

bool is_fixed(Kind k) { return k == Kind::kZero || k == Kind::kFixed; }
bool is_sum(Kind k) { return k == Kind::kZero || k == Kind::kLinear; }

bool is_bits(Kind k) { return k == Kind::kZero || k == Kind::kBitsOfLinear; }
// Whether what is one of the two is of their kind, or that of the one that is not zero.
bool may_choose(Kind a, Kind b) { return (is_sum(a) && is_sum(b)) || (is_bits(a) && is_bits(b)); }

// Of a value that is scaled by something fixed.
Kind scaled(Kind k) {
  if (k == Kind::kZero) return Kind::kFixed;
  return k == Kind::kBitsOfLinear ? Kind::kOther : k;
}

// Integers wrap: the narrower one's sum is that of the narrowed.
bool converts_linearly(DType from, DType to) {
  if (is_float(from) && is_float(to)) return true;
  const bool integers = is_integer(from) && is_integer(to);
  return integers && bit_width(to) <= bit_width(from);
}

class Kinds {
 public:
  Kinds(const Tape& tape, const std::vector<bool>& summed) : tape_(tape), summed_(summed) {
    for (const TapeNode& n : tape.nodes) kinds_.push_back(kind_of(n));
  }
  bool is_sum(Val v) const {
    auto part = [&](int32_t node) { return node < 0 || armillary::is_sum(kinds_[node]); };
    return v.valid() && part(v.re) && part(v.im);
  }

 private:
  Kind at(int32_t node) const { return node < 0 ? Kind::kFixed : kinds_[node]; }

  Kind kind_of(const TapeNode& n) const {
    const Kind a = at(n.a), b = at(n.b), c = at(n.c);
    switch (n.prim) {
      case Prim::kConst:
        return n.imm == 0 ? Kind::kZero : Kind::kFixed;
      case Prim::kArg:
      case Prim::kLoad:
        if (!is_fixed(a)) return Kind::kOther;
        return summed_[n.imm] ? Kind::kLinear : Kind::kFixed;
      case Prim::kAdd:
      case Prim::kSub:
        if (armillary::is_sum(a) && armillary::is_sum(b)) return std::max(a, b);
        break;
      case Prim::kNeg:
        return scaled(a);
      case Prim::kMul:
        if (is_fixed(a) || is_fixed(b)) return scaled(std::max(a, b));
        break;
      case Prim::kDiv:
        if (is_float(n.dtype) && is_fixed(b)) return scaled(a);
        break;
      case Prim::kSelect:
        if (is_fixed(a) && may_choose(b, c)) return std::max(b, c);
        break;
      case Prim::kBitcast:
        if (a == Kind::kLinear) return Kind::kBitsOfLinear;
        if (a == Kind::kBitsOfLinear && is_float(n.dtype)) return Kind::kLinear;
        if (a == Kind::kZero) return a;
        break;
      case Prim::kConvert:
        if (converts_linearly(tape_.nodes[n.a].dtype, n.dtype)) return a;
        break;
      default:
        break;
    }
    return is_fixed(a) && is_fixed(b) && is_fixed(c) ? Kind::kFixed : Kind::kOther;
  }

  const Tape& tape_;
  const std::vector<bool>& summed_;
  std::vector<Kind> kinds_;
};

bool by_recipe(const Instruction& i, const std::vector<bool>& summed) {
  Tape tape;
  TapeBuilder b(tape);
  const Instruction::ContextStorage storage = i.context_storage();
  const OpContext context = storage.context(i.attrs(), nullptr);
  Val result;
  if (i.def().element) {
    std::vector<Val> index;
    for (size_t d = 0; d < i.dims().size(); ++d) {
      tape.nodes.push_back({Prim::kIndex, DType::kS64, 0, -1, -1, -1, static_cast<int64_t>(d)});
      index.push_back({static_cast<int32_t>(d), -1, DType::kS64});
    }
    result = i.def().element(b, index, context, i.shape());
  } else {
    std::vector<Val> x;
    for (int64_t k = 0; k < i.num_operands(); ++k)
      x.push_back(b.arg(static_cast<int>(k), i.operand(k)->dtype()));
    result = i.def().scalar(b, x, context, i.dtype());
  }
  return Kinds(tape, summed).is_sum(result);
}

bool adds_from_zero(const Instruction& reduce) {
  const Computation& body = *reduce.attrs().callee(Attr::to_apply);
  const auto& parameters = body.parameters();
  const Instruction* initial = reduce.operand(1);
  if (!body.root()->is(Op::add) || !is_monoid(body.root(), parameters[0], parameters[1])) return false;
  return is_zero(initial);
}

}  // namespace

bool is_zero(const Instruction* i) {
  if (!i->is(Op::constant)) return false;
  const Literal& value = i->literal();
  return std::all_of(value.bytes(), value.bytes() + value.size_bytes(),
                     [](std::byte byte) { return byte == std::byte{0}; });
}

bool is_linear(const Instruction& i, const std::vector<bool>& summed) {
  if (!i.shape().is_array() || i.dtype() == DType::kPred || i.has_effect()) return false;
  const auto count = std::ranges::count(summed, true);
  if (i.is(Op::reduce)) return i.num_operands() == 2 && count == 1 && summed[0] && adds_from_zero(i);
  if (i.is(Op::dot) || i.is(Op::convolution)) return count == 1;
  if (i.def().element || i.def().scalar) return by_recipe(i, summed);
  return false;
}

}  // namespace armillary
