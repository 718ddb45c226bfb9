// ragged-dot and scaled-dot: plain dots of masked or scaled operands. And contractions whose sums are of
// another kind of number than their result.
#include <algorithm>
#include <numeric>

#include "xla_core/passes/expand.h"

namespace armillary {
namespace {

bool contains(const Dims& dims, int64_t d) { return std::find(dims.begin(), dims.end(), d) != dims.end(); }

Dims shifted(Dims dims) {
  for (int64_t& d : dims) ++d;
  return dims;
}

Attrs dot_attrs(const Attrs& from) {
  Attrs attrs;
  for (Attr a : {Attr::lhs_batch_dims, Attr::lhs_contracting_dims, Attr::rhs_batch_dims,
                 Attr::rhs_contracting_dims, Attr::operand_precision, Attr::algorithm})
    if (const AttrValue* value = from.find(a)) attrs.set(a, *value);
  return attrs;
}

// ends[g] = sizes[0] + ... + sizes[g]
Instruction* running_sum(Build& b, Instruction* sizes) {
  const int64_t n = sizes->dims()[0];
  const Shape square(sizes->dtype(), {n, n});
  Instruction* upto = b.compare("LE", b.iota(square, 1), b.iota(square, 0));
  Instruction* terms = b.select(upto, b.broadcast(sizes, square.dims, {1}), b.splat(square, 0.0));
  return b.reduce(Op::add, terms, 0, {1});
}

// A copy of x for each group, zero where the position along `dim` belongs to another group: [groups, x...].
Instruction* masked_by_group(Build& b, Instruction* x, Instruction* sizes, int64_t dim) {
  const int64_t groups = sizes->dims()[0];
  const Shape plane(sizes->dtype(), {groups, x->dims()[dim]});
  Instruction* ends = running_sum(b, sizes);
  Instruction* begins = b.add(Op::subtract, {ends, sizes});
  Instruction* row = b.iota(plane, 1);
  Instruction* after = b.compare("GE", row, b.broadcast(begins, plane.dims, {0}));
  Instruction* before = b.compare("LT", row, b.broadcast(ends, plane.dims, {0}));
  Instruction* inside = b.add(Op::and_, {after, before});
  Dims all{groups}, kept(x->dims().size());
  all.insert(all.end(), x->dims().begin(), x->dims().end());
  std::iota(kept.begin(), kept.end(), 1);
  Instruction* copies = b.broadcast(x, all, kept);
  return b.select(b.broadcast(inside, all, {0, dim + 1}), copies, b.splat(copies->shape(), 0.0));
}

}  // namespace

// Rows of another group are zero, so the sum over groups picks each row's own: a dot that contracts the
// groups too.
Instruction* expand_ragged_dot(Instruction* i) {
  Build b(i);
  Attrs attrs = dot_attrs(i->attrs());
  const int64_t ragged = i->attrs().ints(Attr::lhs_ragged_dims).at(0);
  Instruction *lhs = i->operand(0), *rhs = i->operand(1), *sizes = i->operand(2);
  const Dims batch = attrs.ints(Attr::lhs_batch_dims), contracting = attrs.ints(Attr::lhs_contracting_dims);
  if (contains(batch, ragged)) return b.add(Op::dot, Shape(i->dtype(), i->dims()), {lhs, rhs}, attrs);
  if (sizes->shape().rank() != 1) return nullptr;
  Instruction* masked = masked_by_group(b, lhs, sizes, ragged);
  if (!batch.empty()) attrs.set(Attr::lhs_batch_dims, shifted(batch));
  Dims left = shifted(contracting), right = attrs.ints(Attr::rhs_contracting_dims);
  const bool one_result_a_group = contains(contracting, ragged);
  if (!one_result_a_group) {
    left.insert(left.begin(), 0);
    right.insert(right.begin(), i->attrs().ints(Attr::rhs_group_dims).at(0));
  }
  attrs.set(Attr::lhs_contracting_dims, left);
  attrs.set(Attr::rhs_contracting_dims, right);
  Dims dims = i->dims();
  const int64_t batches = static_cast<int64_t>(batch.size());
  if (!one_result_a_group || batches == 0)
    return b.add(Op::dot, Shape(i->dtype(), dims), {masked, rhs}, attrs);
  // The groups come behind the batch in the dot's result, and in front of it in ours.
  std::rotate(dims.begin(), dims.begin() + 1, dims.begin() + 1 + batches);
  Dims order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + batches, order.begin() + batches + 1);
  return b.transpose(b.add(Op::dot, Shape(i->dtype(), dims), {masked, rhs}, attrs), order);
}

// Each scale stands for a block of its operand. Products and sums in f32.
Instruction* expand_scaled_dot(Instruction* i) {
  Build b(i);
  auto scaled = [&](Instruction* x, Instruction* scale) -> Instruction* {
    x = b.convert(x, DType::kF32);
    if (scale->shape().is_scalar()) return x;
    Dims split, spread, kept = {};
    for (size_t d = 0; d < x->dims().size(); ++d) {
      const int64_t blocks = scale->dims()[d];
      if (blocks == 0 || x->dims()[d] % blocks != 0) return nullptr;
      kept.push_back(static_cast<int64_t>(spread.size()));
      spread.push_back(blocks);
      spread.push_back(x->dims()[d] / blocks);
    }
    Instruction* factors = b.broadcast(b.convert(scale, DType::kF32), spread, kept);
    return b.add(Op::multiply, {x, b.reshape(factors, x->dims())});
  };
  if (i->operand(0)->shape().rank() != i->operand(2)->shape().rank() && !i->operand(2)->shape().is_scalar())
    return nullptr;
  if (i->operand(1)->shape().rank() != i->operand(3)->shape().rank() && !i->operand(3)->shape().is_scalar())
    return nullptr;
  Instruction* lhs = scaled(i->operand(0), i->operand(2));
  Instruction* rhs = lhs ? scaled(i->operand(1), i->operand(3)) : nullptr;
  if (!rhs) return nullptr;
  return b.convert(b.add(Op::dot, Shape(DType::kF32, i->dims()), {lhs, rhs}, dot_attrs(i->attrs())),
                   i->dtype());
}

// The widest kind of number among the operands is what products are summed in; the sum becomes an integer, or
// loses its imaginary part, once.
Instruction* expand_mixed_contraction(Instruction* i) {
  bool any_complex = false, any_float = false, wide = false;
  for (const Instruction* x : i->operands()) {
    any_complex |= is_complex(x->dtype());
    any_float |= is_float(x->dtype());
    wide |= x->dtype() == DType::kF64 || x->dtype() == DType::kC128;
  }
  const bool changes_kind = any_complex ? !is_complex(i->dtype()) : any_float && is_integral(i->dtype());
  if (!changes_kind) return nullptr;
  Build b(i);
  const DType sum = any_complex ? (wide ? DType::kC128 : DType::kC64) : (wide ? DType::kF64 : DType::kF32);
  Instruction* x = b.add(i->op(), i->shape().with_dtype(sum), {i->operand(0), i->operand(1)}, i->attrs());
  if (any_complex) x = b.add(Op::real, {x});
  return b.convert(x, i->dtype());
}

}  // namespace armillary
