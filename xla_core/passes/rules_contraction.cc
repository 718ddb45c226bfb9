// reduce and dot: fewer dimensions, no transposes in front of them.
#include <algorithm>
#include <cmath>

#include "xla_core/passes/rule_words.h"

namespace armillary {
namespace {

using namespace words;

bool contains(const Dims& dims, int64_t d) { return std::find(dims.begin(), dims.end(), d) != dims.end(); }
bool is_empty(const Instruction* i) { return i->shape().is_array() && i->shape().num_elements() == 0; }

// ---- reduce

// The op when the reducer is one op on both of its parameters, else parameter.
Op combiner(const Instruction* reduce) {
  const Computation* body = reduce->attrs().callee(Attr::to_apply);
  const Instruction* root = body->root();
  bool on_both = body->parameters().size() == 2 && root->num_operands() == 2 && root->has(kCommutative) &&
                 root->operand(0)->is(Op::parameter) && root->operand(1)->is(Op::parameter) &&
                 root->operand(0) != root->operand(1);
  return on_both && root->dtype() == reduce->dtype() && root->operand(0)->dtype() == reduce->dtype()
             ? root->op()
             : Op::parameter;
}
bool has_combiner(C m) { return m['x']->dtype() == m.dtype() && combiner(m.root()) != Op::parameter; }
bool is_idempotent(Op op) {
  return op == Op::maximum || op == Op::minimum || op == Op::and_ || op == Op::or_;
}

Instruction* reduce_over(M m, Instruction* from, Dims dimensions) {
  Attrs attrs = m.root()->attrs();
  attrs.set(Attr::dimensions, std::move(dimensions));
  return m.add(Op::reduce, {from, m['y']}, std::move(attrs));
}

// Dimensions of size one hold nothing to combine: drop them, and combine with the initial value when no
// others are left.
bool reduces_ones(C m) {
  auto is_one = [&](int64_t d) { return m['x']->dims()[d] == 1; };
  return has_combiner(m) && !is_empty(m['x']) &&
         (m.dimensions().empty() || std::any_of(m.dimensions().begin(), m.dimensions().end(), is_one));
}
Instruction* reduce_without_ones(M m) {
  Dims kept, dimensions;
  for (int64_t d = 0; d < m['x']->shape().rank(); ++d) {
    bool reduced = contains(m.dimensions(), d);
    if (reduced && m['x']->dims()[d] == 1) continue;
    if (reduced) dimensions.push_back(static_cast<int64_t>(kept.size()));
    kept.push_back(m['x']->dims()[d]);
  }
  Instruction* squeezed = m.reshape(m['x'], kept);
  if (!dimensions.empty()) return reduce_over(m, squeezed, dimensions);
  return m.add(combiner(m.root()), {squeezed, m.splat(m.root()->shape(), m['y'])});
}

// A reduction does not care about the order of what it reduces; what remains must keep its order.
bool keeps_order(C m) {
  Dims kept;
  for (size_t d = 0; d < m.dimensions('t').size(); ++d)
    if (!contains(m.dimensions(), static_cast<int64_t>(d))) kept.push_back(m.dimensions('t')[d]);
  return std::is_sorted(kept.begin(), kept.end()) && has_combiner(m);
}
Instruction* reduce_untransposed(M m) {
  Dims dimensions;
  for (int64_t d : m.dimensions()) dimensions.push_back(m.dimensions('t')[d]);
  std::sort(dimensions.begin(), dimensions.end());
  return reduce_over(m, m['x'], dimensions);
}

// All reduced dimensions were made by the broadcast: the same value n times.
bool reduces_copies(C m) {
  auto made = [&](int64_t d) { return !contains(m.dimensions('b'), d); };
  return has_combiner(m) && !is_empty(m['b']) &&
         std::all_of(m.dimensions().begin(), m.dimensions().end(), made);
}
Instruction* squeeze_broadcast(M m) {
  Dims place(m['b']->dims().size(), 0), dimensions;
  int64_t next = 0;
  for (size_t d = 0; d < place.size(); ++d)
    place[d] = contains(m.dimensions(), static_cast<int64_t>(d)) ? -1 : next++;
  for (int64_t d : m.dimensions('b')) dimensions.push_back(place[d]);
  return m.broadcast(m['x'], m.dims(), dimensions);
}
bool combines_copies(C m) { return reduces_copies(m) && is_idempotent(combiner(m.root())); }
Instruction* combine_once(M m) {
  return m.add(combiner(m.root()), {squeeze_broadcast(m), m.splat(m.root()->shape(), m['y'])});
}
int64_t copies(C m) {
  int64_t n = 1;
  for (int64_t d : m.dimensions()) n *= m['b']->dims()[d];
  return n;
}
bool sums_copies(C m) {
  bool exact_count = is_integer(m.dtype()) ||
                     ((m.dtype() == DType::kF32 || m.dtype() == DType::kF64) && copies(m) < 1 << 24);
  return exact_count && reduces_copies(m) && combiner(m.root()) == Op::add;
}
Instruction* multiply_copies(M m) {
  Instruction* n =
      m.splat(m.root()->shape(), is_integer(m.dtype()) ? m.scalar_int(m.dtype(), copies(m))
                                                       : m.scalar(m.dtype(), static_cast<double>(copies(m))));
  Instruction* sum = m.add(Op::multiply, {squeeze_broadcast(m), n});
  return m.add(Op::add, {sum, m.splat(m.root()->shape(), m['y'])});
}

// reduce(reduce(x)) with one combiner; the inner initial value changes nothing.
bool merges_reduces(C m) {
  const Instruction* inner = m['r'];
  Op op = combiner(m.root());
  if (!has_combiner(m) || op != combiner(inner) || inner->users().size() != 1 || is_empty(m['x']))
    return false;
  if (is_idempotent(op)) return m['y'] == m['z'];
  return op == Op::add && (is_number(*m['z'], 0.0) || is_number(*m['z'], -0.0));
}
Instruction* merge_reduces(M m) {
  Dims kept, all = m.dimensions('r');
  for (int64_t d = 0; d < m['x']->shape().rank(); ++d)
    if (!contains(all, d)) kept.push_back(d);
  for (int64_t d : m.dimensions()) all.push_back(kept[d]);
  std::sort(all.begin(), all.end());
  return reduce_over(m, m['x'], all);
}

bool reduces_empty(C m) { return has_combiner(m) && is_empty(m['x']); }

// ---- dot

Dims free_dims(const Instruction* operand, const Dims& batch, const Dims& contracting) {
  Dims result;
  for (int64_t d = 0; d < operand->shape().rank(); ++d)
    if (!contains(batch, d) && !contains(contracting, d)) result.push_back(d);
  return result;
}

// Free dimensions come in the operand's order, so the transpose may only move the others among them.
bool folds(C m, Attr batch, Attr contracting) {
  const Attrs& a = m.root()->attrs();
  Dims moved;
  for (int64_t d : free_dims(m['t'], a.ints(batch), a.ints(contracting)))
    moved.push_back(m.dimensions('t')[d]);
  return std::is_sorted(moved.begin(), moved.end());
}
Attrs folded(M m, Attr batch, Attr contracting) {
  Attrs attrs = m.root()->attrs();
  for (Attr which : {batch, contracting}) {
    if (!attrs.has(which)) continue;
    Dims dims = attrs.ints(which);
    for (int64_t& d : dims) d = m.dimensions('t')[d];
    attrs.set(which, dims);
  }
  return attrs;
}
bool folds_lhs(C m) { return folds(m, Attr::lhs_batch_dims, Attr::lhs_contracting_dims); }
bool folds_rhs(C m) { return folds(m, Attr::rhs_batch_dims, Attr::rhs_contracting_dims); }
Instruction* fold_lhs(M m) {
  return m.add(Op::dot, m.root()->shape(), {m['x'], m['y']},
               folded(m, Attr::lhs_batch_dims, Attr::lhs_contracting_dims));
}
Instruction* fold_rhs(M m) {
  return m.add(Op::dot, m.root()->shape(), {m['y'], m['x']},
               folded(m, Attr::rhs_batch_dims, Attr::rhs_contracting_dims));
}

// transpose(dot(x, y)) that only swaps the two free blocks is dot(y, x).
bool swaps_free_blocks(C m) {
  const Instruction* dot = m['p'];
  const Attrs& a = dot->attrs();
  int64_t batch = static_cast<int64_t>(a.ints(Attr::lhs_batch_dims).size());
  int64_t left = static_cast<int64_t>(
      free_dims(m['x'], a.ints(Attr::lhs_batch_dims), a.ints(Attr::lhs_contracting_dims)).size());
  Dims swapped;
  for (int64_t d = 0; d < batch; ++d) swapped.push_back(d);
  for (int64_t d = batch + left; d < dot->shape().rank(); ++d) swapped.push_back(d);
  for (int64_t d = batch; d < batch + left; ++d) swapped.push_back(d);
  return dot->users().size() == 1 && !a.has(Attr::algorithm) && m.dimensions() == swapped;
}
Instruction* swap_operands(M m) {
  Attrs attrs = m['p']->attrs();
  auto swap = [&](Attr l, Attr r) {
    Dims left = attrs.ints(l), right = attrs.ints(r);
    attrs.erase(l);
    attrs.erase(r);
    if (!right.empty()) attrs.set(l, right);
    if (!left.empty()) attrs.set(r, left);
  };
  swap(Attr::lhs_batch_dims, Attr::rhs_batch_dims);
  swap(Attr::lhs_contracting_dims, Attr::rhs_contracting_dims);
  if (const AttrValue* precision = attrs.find(Attr::operand_precision)) {
    auto names = std::get<std::vector<std::string>>(*precision);
    std::reverse(names.begin(), names.end());
    attrs.set(Attr::operand_precision, names);
  }
  return m.add(Op::dot, m.root()->shape(), {m['y'], m['x']}, attrs);
}

bool contracts_nothing(C m) { return !is_empty(m.root()) && (is_empty(m['x']) || is_empty(m['y'])); }

// ---- convolution with a kernel of one point

// The result's dimensions come in the input's order with the output feature last, as a dot leaves them.
bool convolves_points(C m) {
  const Attrs& a = m.root()->attrs();
  for (const WindowDim& w : a.window().dims)
    if (!(w == WindowDim{})) return false;
  if (a.integer(Attr::feature_group_count, 1) != 1 || a.integer(Attr::batch_group_count, 1) != 1)
    return false;
  const ConvDims& d = a.conv_dims();
  std::vector<std::pair<int64_t, int64_t>> kept{{d.output_batch, d.input_batch}};
  for (size_t k = 0; k < d.input_spatial.size(); ++k)
    kept.push_back({d.output_spatial[k], d.input_spatial[k]});
  std::sort(kept.begin(), kept.end());
  auto input_order = [](auto& p, auto& q) { return p.second < q.second; };
  bool known = static_cast<int64_t>(kept.size()) + 1 == m.root()->shape().rank();
  return known && std::is_sorted(kept.begin(), kept.end(), input_order) &&
         d.output_feature == m.root()->shape().rank() - 1;
}
Instruction* dot_of_points(M m) {
  const ConvDims& d = m.root()->attrs().conv_dims();
  const bool inputs_first = d.kernel_input_feature < d.kernel_output_feature;
  Dims matrix{m['y']->dims()[d.kernel_input_feature], m['y']->dims()[d.kernel_output_feature]};
  if (!inputs_first) std::swap(matrix[0], matrix[1]);
  Attrs attrs = with(Attr::lhs_contracting_dims, Dims{d.input_feature});
  attrs.set(Attr::rhs_contracting_dims, Dims{inputs_first ? 0 : 1});
  if (const AttrValue* precision = m.root()->attrs().find(Attr::operand_precision))
    attrs.set(Attr::operand_precision, *precision);
  return m.add(Op::dot, m.root()->shape(), {m['x'], m.reshape(m['y'], matrix)}, std::move(attrs));
}

const Pat r = as('r', of(Op::reduce, {x, z}));
const Pat t = as('t', of(Op::transpose, {x}));
const Pat b = as('b', of(Op::broadcast, {x}));

const Rule kRules[] = {
    {"reduce-empty", of(Op::reduce, {x, y}), [](M m) { return m.splat(m.root()->shape(), m['y']); },
     reduces_empty},
    {"reduce-ones", of(Op::reduce, {x, y}), reduce_without_ones, reduces_ones},
    {"reduce-of-transpose", of(Op::reduce, {t, y}), reduce_untransposed, keeps_order},
    {"reduce-of-broadcast", of(Op::reduce, {b, y}), combine_once, combines_copies},
    {"reassociates:sum-of-broadcast", of(Op::reduce, {b, y}), multiply_copies, sums_copies},
    {"reassociates:reduce-of-reduce", of(Op::reduce, {r, y}), merge_reduces, merges_reduces},
    {"dot-of-nothing", of(Op::dot, {x, y}), [](M m) { return m.splat(m.root()->shape(), 0.0); },
     contracts_nothing},
    {"reassociates:convolution-of-points", of(Op::convolution, {x, y}), dot_of_points, convolves_points},
    {"dot-of-transposed-left", of(Op::dot, {t, y}), fold_lhs, folds_lhs},
    {"dot-of-transposed-right", of(Op::dot, {y, t}), fold_rhs, folds_rhs},
    {"transpose-of-dot", of(Op::transpose, {as('p', of(Op::dot, {x, y}))}), swap_operands, swaps_free_blocks},
};

}  // namespace

std::span<const Rule> contraction_rules() { return kRules; }

}  // namespace armillary
