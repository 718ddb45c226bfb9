// reshape, transpose, broadcast: index maps that compose, cancel or move towards smaller arrays.
#include <algorithm>
#include <numeric>

#include "xla_core/passes/rule_words.h"
#include "xla_core/shape/permutation.h"

namespace armillary {
namespace {

using namespace words;

Dims without_ones(const Dims& dims) {
  Dims result;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(result), [](int64_t d) { return d != 1; });
  return result;
}

bool is_identity(const Dims& permutation) {
  for (size_t d = 0; d < permutation.size(); ++d)
    if (permutation[d] != static_cast<int64_t>(d)) return false;
  return true;
}

Dims compose(const Dims& inner, const Dims& outer) {
  Dims result;
  for (int64_t d : outer) result.push_back(inner[d]);
  return result;
}

bool same_dims(C m) { return m['x']->dims() == m.dims(); }
bool is_static(C m) { return !m.root()->shape().is_dynamic() && !m['x']->shape().is_dynamic(); }

// Only dimensions of size one change places.
bool moves_only_ones(C m) {
  Dims kept;
  for (int64_t d : m.dimensions())
    if (m['x']->dims()[d] != 1) kept.push_back(d);
  return std::is_sorted(kept.begin(), kept.end()) && is_static(m);
}

// reshape(broadcast(x)) where the reshape only adds or drops ones, and x has none: the dimensions of x find
// their new places.
bool reshapes_only_ones(C m) {
  const Instruction* b = m['b'];
  bool ones_in_x = std::count(m['x']->dims().begin(), m['x']->dims().end(), 1) > 0;
  return is_static(m) && !ones_in_x && without_ones(b->dims()) == without_ones(m.dims()) &&
         std::is_sorted(m.dimensions('b').begin(), m.dimensions('b').end());
}
Instruction* broadcast_to_reshaped(M m) {
  Dims place;  // of the n-th dimension of the broadcast that is not one
  for (size_t d = 0; d < m.dims().size(); ++d)
    if (m.dims()[d] != 1) place.push_back(static_cast<int64_t>(d));
  Dims dimensions;
  for (int64_t d : m.dimensions('b')) {
    auto begin = m['b']->dims().begin();
    dimensions.push_back(place[std::count_if(begin, begin + d, [](int64_t size) { return size != 1; })]);
  }
  return m.broadcast(m['x'], m.dims(), dimensions);
}

// broadcast(reshape(x)) where the reshape only adds ones.
bool adds_only_ones(C m) {
  const Dims &from = m['x']->dims(), &to = m['r']->dims();
  return is_static(m) && from.size() < to.size() && without_ones(to) == from;
}
Instruction* broadcast_without_ones(M m) {
  Dims dimensions;
  for (size_t d = 0; d < m['r']->dims().size(); ++d)
    if (m['r']->dims()[d] != 1) dimensions.push_back(m.dimensions()[d]);
  return m.broadcast(m['x'], m.dims(), dimensions);
}

Instruction* transpose_of_broadcast(M m) {
  Dims to = inverse(m.dimensions()), dimensions;
  for (int64_t d : m.dimensions('b')) dimensions.push_back(to[d]);
  return m.broadcast(m['x'], m.dims(), dimensions);
}
bool stays_sorted(C m) {
  Dims to = inverse(m.dimensions()), dimensions;
  for (int64_t d : m.dimensions('b')) dimensions.push_back(to[d]);
  return std::is_sorted(dimensions.begin(), dimensions.end());
}

// Elementwise on broadcasts: compute before the broadcast.
Instruction* unary_of_broadcast(M m) {
  Instruction* inner = m.add(m.root()->op(), Shape(m.dtype(), m['x']->dims()), {m['x']}, m.root()->attrs());
  return m.broadcast(inner, m.dims(), m.dimensions('b'));
}
bool same_broadcast(C m) {
  const Instruction* other = m['d'];
  return m['x']->dims() == m['y']->dims() && m.dimensions('b') == other->attrs().ints(Attr::dimensions) &&
         m.dims() == m['b']->dims() && m.dims() == other->dims();
}
Instruction* binary_of_broadcasts(M m) {
  Instruction* inner =
      m.add(m.root()->op(), Shape(m.dtype(), m['x']->dims()), {m['x'], m['y']}, m.root()->attrs());
  return m.broadcast(inner, m.dims(), m.dimensions('b'));
}

// A constant of equal elements is a broadcast scalar: it folds, fuses and takes no memory.
bool is_big_splat(C m) {
  const Instruction* i = m.root();
  return i->shape().is_array() && !i->dims().empty() && !i->literal().elided() && i->literal().is_splat();
}
Instruction* broadcast_scalar(M m) {
  const Literal& all = m.root()->literal();
  Literal one(Shape::scalar(m.dtype()));
  std::copy(all.bytes(), all.bytes() + byte_size(m.dtype()), one.bytes());
  return m.splat(m.root()->shape(), m.constant(std::move(one)));
}

bool counts_one(C m) { return m.dims()[m.root()->attrs().integer(Attr::iota_dimension)] == 1; }

// Every unary and binary op with a scalar recipe has the same two rules.
std::vector<Rule> make_rules() {
  const Pat b = as('b', of(Op::broadcast, {x})), e = as('d', of(Op::broadcast, {y}));
  std::vector<Rule> rules = {
      {"reshape-same", of(Op::reshape, {x}), x, same_dims},
      {"reshape-of-reshape", of(Op::reshape, {of(Op::reshape, {x})}),
       [](M m) { return m.reshape(m['x'], m.dims()); }, is_static},
      {"reshape-of-splat", of(Op::reshape, {of(Op::broadcast, {x})}),
       [](M m) { return m.splat(m.root()->shape(), m['x']); },
       [](C m) { return m['x']->shape().is_scalar() && is_static(m); }},
      {"reshape-of-broadcast", of(Op::reshape, {b}), broadcast_to_reshaped, reshapes_only_ones},
      {"transpose-identity", of(Op::transpose, {x}), x, [](C m) { return is_identity(m.dimensions()); }},
      {"transpose-of-transpose", of(Op::transpose, {as('t', of(Op::transpose, {x}))}),
       [](M m) { return m.transpose(m['x'], compose(m.dimensions('t'), m.dimensions())); }},
      {"transpose-of-ones", of(Op::transpose, {x}), [](M m) { return m.reshape(m['x'], m.dims()); },
       moves_only_ones},
      {"transpose-of-broadcast", of(Op::transpose, {b}), transpose_of_broadcast, stays_sorted},
      {"broadcast-nothing", of(Op::broadcast, {x}), x,
       [](C m) { return same_dims(m) && is_identity(m.dimensions()); }},
      {"broadcast-of-broadcast", of(Op::broadcast, {b}),
       [](M m) { return m.broadcast(m['x'], m.dims(), compose(m.dimensions(), m.dimensions('b'))); }},
      {"broadcast-of-reshape", of(Op::broadcast, {as('r', of(Op::reshape, {x}))}), broadcast_without_ones,
       adds_only_ones},
      {"splat-constant", of(Op::constant, {}), broadcast_scalar, is_big_splat},
      {"iota-of-one", of(Op::iota, {}), [](M m) { return m.splat(m.root()->shape(), 0.0); }, counts_one},
  };
  for (const OpDef& row : all_ops()) {
    if (row.meaning != Meaning::kScalar || (row.arity != 1 && row.arity != 2)) continue;
    if (row.op == Op::bitcast_convert || row.op == Op::copy || row.op == Op::stochastic_convert)
      continue;  // one may change the dimensions, the other goes away
    if (row.arity == 1)
      rules.push_back({"unary-of-broadcast", of(row.op, {b}), unary_of_broadcast,
                       [](C m) { return m.dims() == m['b']->dims(); }});
    else
      rules.push_back({"binary-of-broadcasts", of(row.op, {b, e}), binary_of_broadcasts, same_broadcast});
  }
  return rules;
}

}  // namespace

std::span<const Rule> shape_rules() {
  static const std::vector<Rule> rules = make_rules();
  return rules;
}

}  // namespace armillary
