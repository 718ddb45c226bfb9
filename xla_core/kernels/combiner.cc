#include "xla_core/kernels/combiner.h"

#include <algorithm>
#include <limits>

#include "xla_core/kernels/scalar.h"

namespace armillary::kernels {
namespace {

// A narrow float whose values f32 holds exactly.
bool widens(DType d) { return is_float(d) && d != DType::kF32 && d != DType::kF64; }

std::optional<Op> single_op(const Computation& computation) {
  constexpr Op kKnown[] = {Op::add, Op::multiply, Op::minimum, Op::maximum, Op::and_, Op::or_, Op::xor_};
  const Instruction* root = computation.root();
  if (computation.parameters().size() != 2 || root->num_operands() != 2) return std::nullopt;
  if (!root->operand(0)->is(Op::parameter) || !root->operand(1)->is(Op::parameter) ||
      root->operand(0) == root->operand(1))
    return std::nullopt;
  return std::ranges::find(kKnown, root->op()) != std::end(kKnown) ? std::optional(root->op()) : std::nullopt;
}

Val lowest(KernelBuilder& b, DType d, bool highest) {
  if (is_float(d)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return b.constant(d, highest ? infinity : -infinity);
  }
  if (is_pred(d)) return b.constant_int(d, highest);
  const int bits = bit_width(d);
  if (is_unsigned(d)) return b.constant_int(d, highest ? -1 : 0);
  const int64_t top = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
  return b.constant_int(d, highest ? top : -top - 1);
}

}  // namespace

Combiner::Combiner(const Instruction& user)
    : computation_(*user.attrs().callee(Attr::to_apply)), op_(single_op(computation_)) {
  const size_t count = computation_.parameters().size() / 2;
  for (size_t i = 0; i < count; ++i) {
    const DType d = computation_.parameter(static_cast<int64_t>(i))->dtype();
    dtypes_.push_back(op_ && user.is(Op::reduce) && widens(d) ? DType::kF32 : d);
  }
}

std::vector<Val> Combiner::widen(KernelBuilder& b, std::span<const Val> x) const {
  std::vector<Val> out;
  for (size_t i = 0; i < x.size(); ++i) out.push_back(b.convert(x[i], dtypes_[i]));
  return out;
}

std::vector<Val> Combiner::narrow(KernelBuilder& b, std::span<const Val> accumulated) const {
  std::vector<Val> out;
  for (size_t i = 0; i < accumulated.size(); ++i)
    out.push_back(b.convert(accumulated[i], computation_.parameter(static_cast<int64_t>(i))->dtype()));
  return out;
}

std::vector<Val> Combiner::combine(KernelBuilder& b, std::span<const Val> accumulated,
                                   std::span<const Val> x) const {
  if (!op_) {
    std::vector<Val> arguments(accumulated.begin(), accumulated.end());
    arguments.insert(arguments.end(), x.begin(), x.end());
    return inline_scalar(b, computation_, arguments);
  }
  switch (*op_) {
    case Op::add:
      return {b.add(accumulated[0], x[0])};
    case Op::multiply:
      return {b.mul(accumulated[0], x[0])};
    case Op::minimum:
      return {b.min(accumulated[0], x[0])};
    case Op::maximum:
      return {b.max(accumulated[0], x[0])};
    case Op::and_:
      return {b.bit_and(accumulated[0], x[0])};
    case Op::or_:
      return {b.bit_or(accumulated[0], x[0])};
    default:
      return {b.bit_xor(accumulated[0], x[0])};
  }
}

std::optional<std::vector<Val>> Combiner::identity(KernelBuilder& b) const {
  if (!op_) return std::nullopt;
  const DType d = dtypes_[0];
  switch (*op_) {
    case Op::add:
      return {{is_float(d) ? b.constant(d, -0.0) : b.zero(d)}};
    case Op::multiply:
      return {{b.one(d)}};
    case Op::minimum:
    case Op::maximum:
      if (is_complex(d)) return std::nullopt;
      return {{lowest(b, d, *op_ == Op::minimum)}};
    case Op::and_:
      return {{is_pred(d) ? b.one(d) : b.constant_int(d, -1)}};
    default:
      return {{b.zero(d)}};
  }
}

}  // namespace armillary::kernels
