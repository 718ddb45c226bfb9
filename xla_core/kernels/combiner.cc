#include "xla_core/kernels/combiner.h"

#include "xla_core/hlo/associative.h"
#include "xla_core/kernels/scalar.h"

namespace armillary::kernels {
namespace {

// A narrow float whose values f32 holds exactly.
bool widens(DType d) { return is_float(d) && d != DType::kF32 && d != DType::kF64; }

// When it is one operation on its two parameters, which may be done in any order.
const OpDef* single_op(const Computation& computation) {
  const auto& p = computation.parameters();
  return p.size() == 2 && is_monoid(computation.root(), p[0], p[1]) ? &computation.root()->def() : nullptr;
}

}  // namespace

Combiner::Combiner(const Instruction& user)
    : computation_(*user.attrs().callee(Attr::to_apply)),
      op_(single_op(computation_)),
      associates_(armillary::associates(computation_)) {
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
  static const Attrs kNone;
  const std::vector<Val> pair = {accumulated[0], x[0]};
  return {op_->scalar(b, pair, OpContext{.operands = {}, .attrs = kNone, .callees = {}}, dtypes_[0])};
}

std::optional<std::vector<Val>> Combiner::identity(KernelBuilder& b) const {
  if (!op_) return std::nullopt;
  const Val e = op_->identity(b, dtypes_[0]);
  return e.valid() ? std::optional(std::vector<Val>{e}) : std::nullopt;
}

}  // namespace armillary::kernels
