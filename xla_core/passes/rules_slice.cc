// slice, pad, concatenate, reverse, gather and their dynamic kin.
#include <algorithm>

#include "xla_core/passes/rule_words.h"

namespace armillary {
namespace {

using namespace words;

const Slices& slices(const Instruction* i) { return i->attrs().slices(); }
const Padding& padding(const Instruction* i) { return i->attrs().padding(); }
int64_t concat_dim(const Instruction* i) { return i->attrs().ints(Attr::dimensions)[0]; }
bool is_empty(const Instruction* i) { return i->shape().num_elements() == 0; }

// ---- slice

// The outer slice counts in elements of the inner one.
Instruction* merge_slices(M m) {
  Slices merged;
  for (size_t d = 0; d < m.dims().size(); ++d) {
    const SliceDim &in = slices(m['s'])[d], &out = slices(m.root())[d];
    int64_t start = in.start + out.start * in.stride;
    merged.push_back({start, start + (out.limit - out.start - 1) * in.stride + 1, in.stride * out.stride});
  }
  return m.slice(m['x'], merged);
}

// Dimensions that the broadcast made are simply shorter.
Instruction* slice_before_broadcast(M m) {
  Slices kept;
  for (int64_t d : m.dimensions('b')) kept.push_back(slices(m.root())[d]);
  bool whole = true;
  for (size_t n = 0; n < kept.size(); ++n) whole &= kept[n] == SliceDim{0, m['x']->dims()[n], 1};
  return m.broadcast(whole ? m['x'] : m.slice(m['x'], kept), m.dims(), m.dimensions('b'));
}

// The operand of a concatenation that the slice lies in, and where that operand starts.
std::pair<Instruction*, int64_t> piece_of(const Match& m) {
  const Instruction* joined = m['c'];
  const SliceDim& s = slices(m.root())[concat_dim(joined)];
  int64_t begin = 0;
  for (Instruction* o : joined->operands()) {
    int64_t end = begin + o->dims()[concat_dim(joined)];
    if (begin <= s.start && s.limit <= end && s.start < s.limit) return {o, begin};
    begin = end;
  }
  return {nullptr, 0};
}
Instruction* slice_of_piece(M m) {
  auto [piece, begin] = piece_of(m);
  Slices moved = slices(m.root());
  moved[concat_dim(m['c'])].start -= begin;
  moved[concat_dim(m['c'])].limit -= begin;
  return m.slice(piece, moved);
}

bool slice_lies_inside_pad(C m) {
  for (size_t d = 0; d < m.dims().size(); ++d) {
    const PadDim& p = padding(m['p'])[d];
    const SliceDim& s = slices(m.root())[d];
    if (p.interior != 0 || s.start < p.low || s.limit > p.low + m['x']->dims()[d] || s.start >= s.limit)
      return false;
  }
  return true;
}
Instruction* slice_of_padded(M m) {
  Slices moved = slices(m.root());
  for (size_t d = 0; d < moved.size(); ++d) {
    moved[d].start -= padding(m['p'])[d].low;
    moved[d].limit -= padding(m['p'])[d].low;
  }
  return m.slice(m['x'], moved);
}

// ---- pad

bool pads_nothing(C m) {
  return std::all_of(padding(m.root()).begin(), padding(m.root()).end(),
                     [](const PadDim& p) { return p == PadDim{}; });
}

bool only_cuts(C m) {
  auto cuts = [](const PadDim& p) { return p.low <= 0 && p.high <= 0 && p.interior == 0; };
  return std::all_of(padding(m.root()).begin(), padding(m.root()).end(), cuts) && !is_empty(m.root());
}
Instruction* slice_for_negative_pad(M m) {
  Slices kept;
  for (size_t d = 0; d < m.dims().size(); ++d)
    kept.push_back({-padding(m.root())[d].low, m['x']->dims()[d] + padding(m.root())[d].high, 1});
  return m.slice(m['x'], kept);
}

bool pads_outside_twice(C m) {
  for (size_t d = 0; d < m.dims().size(); ++d) {
    const PadDim &in = padding(m['p'])[d], &out = padding(m.root())[d];
    if (in.low < 0 || in.high < 0 || in.interior != 0 || out.low < 0 || out.high < 0 || out.interior != 0)
      return false;
  }
  return true;
}
Instruction* merge_pads(M m) {
  Padding sum = padding(m['p']);
  for (size_t d = 0; d < sum.size(); ++d) {
    sum[d].low += padding(m.root())[d].low;
    sum[d].high += padding(m.root())[d].high;
  }
  return m.pad(m['x'], m['v'], sum);
}

// ---- concatenate

bool has_empty_or_nested(C m) {
  const Instruction* i = m.root();
  auto flattens = [&](const Instruction* o) {
    return is_empty(o) ||
           (o->is(Op::concatenate) && concat_dim(o) == concat_dim(i) && o->users().size() == 1);
  };
  return i->num_operands() > 1 && !is_empty(i) &&
         std::any_of(i->operands().begin(), i->operands().end(), flattens);
}
Instruction* flatten_concatenation(M m) {
  std::vector<Instruction*> pieces;
  for (Instruction* o : m.root()->operands()) {
    if (is_empty(o)) continue;
    bool nested = o->is(Op::concatenate) && concat_dim(o) == concat_dim(m.root()) && o->users().size() == 1;
    if (nested)
      pieces.insert(pieces.end(), o->operands().begin(), o->operands().end());
    else
      pieces.push_back(o);
  }
  return pieces.size() == 1 ? pieces[0] : m.concatenate(pieces, concat_dim(m.root()));
}

// Neighbouring slices of one array, joined where they were cut.
bool continues(const Instruction* a, const Instruction* b, int64_t dim) {
  if (!a->is(Op::slice) || !b->is(Op::slice) || a->operand(0) != b->operand(0)) return false;
  for (size_t d = 0; d < a->dims().size(); ++d) {
    const SliceDim &s = slices(a)[d], &t = slices(b)[d];
    bool fits =
        static_cast<int64_t>(d) == dim ? s.limit == t.start && s.stride == 1 && t.stride == 1 : s == t;
    if (!fits) return false;
  }
  return true;
}
bool has_neighbours(C m) {
  const Instruction* i = m.root();
  for (int64_t n = 1; n < i->num_operands(); ++n)
    if (continues(i->operand(n - 1), i->operand(n), concat_dim(i))) return true;
  return false;
}
Instruction* join_neighbours(M m) {
  const int64_t dim = concat_dim(m.root());
  std::vector<Instruction*> pieces;
  for (Instruction* o : m.root()->operands()) {
    if (pieces.empty() || !continues(pieces.back(), o, dim)) {
      pieces.push_back(o);
      continue;
    }
    Slices joined = slices(pieces.back());
    joined[dim].limit = slices(o)[dim].limit;
    pieces.back() = m.slice(o->operand(0), joined);
  }
  return pieces.size() == 1 ? pieces[0] : m.concatenate(pieces, dim);
}

// A splat at one end is padding.
bool ends_in_splat(C m) {
  const Instruction* i = m.root();
  return i->num_operands() == 2 && !is_empty(i) &&
         (scalar_behind(*i->operand(0)) != nullptr) != (scalar_behind(*i->operand(1)) != nullptr);
}
Instruction* pad_with_splat(M m) {
  const Instruction* i = m.root();
  const int64_t dim = concat_dim(i), at = scalar_behind(*i->operand(0)) ? 0 : 1;
  Instruction* splat = i->operand(at);
  Padding padding(m.dims().size());
  (at == 0 ? padding[dim].low : padding[dim].high) = splat->dims()[dim];
  return m.pad(i->operand(1 - at), splat->is(Op::broadcast) ? splat->operand(0) : splat, padding);
}

// ---- reverse

Dims longer_than_one(C m) {
  Dims result;
  for (int64_t d : m.dimensions())
    if (m.dims()[d] != 1) result.push_back(d);
  return result;
}
Instruction* reverse_less(M m) {
  Dims dimensions = longer_than_one(m);
  return dimensions.empty() ? m['x'] : m.reverse(m['x'], dimensions);
}
Instruction* reverse_difference(M m) {
  Dims inner = m.dimensions('r'), outer = m.dimensions(), result;
  std::sort(inner.begin(), inner.end());
  std::sort(outer.begin(), outer.end());
  std::set_symmetric_difference(inner.begin(), inner.end(), outer.begin(), outer.end(),
                                std::back_inserter(result));
  return result.empty() ? m['x'] : m.reverse(m['x'], result);
}

const Rule kRules[] = {
    {"slice-all", of(Op::slice, {x}), x, [](C m) { return m['x']->dims() == m.dims(); }},
    {"slice-of-slice", of(Op::slice, {as('s', of(Op::slice, {x}))}), merge_slices,
     [](C m) { return !is_empty(m.root()); }},
    {"slice-of-broadcast", of(Op::slice, {as('b', of(Op::broadcast, {x}))}), slice_before_broadcast},
    {"slice-of-concatenate", of(Op::slice, {as('c', of(Op::concatenate, {}))}), slice_of_piece,
     [](C m) { return piece_of(m).first != nullptr; }},
    {"slice-of-pad", of(Op::slice, {as('p', of(Op::pad, {x, y}))}), slice_of_padded, slice_lies_inside_pad},
    {"pad-nothing", of(Op::pad, {x, y}), x, pads_nothing},
    {"pad-that-cuts", of(Op::pad, {x, y}), slice_for_negative_pad, only_cuts},
    {"pad-of-pad", of(Op::pad, {as('p', of(Op::pad, {x, any('v')})), any('v')}), merge_pads,
     pads_outside_twice},
    {"pad-of-empty", of(Op::pad, {x, y}), [](M m) { return m.splat(m.root()->shape(), m['y']); },
     [](C m) { return is_empty(m['x']); }},
    {"concatenate-one", of(Op::concatenate, {x}), x},
    {"concatenate-flat", of(Op::concatenate, {}), flatten_concatenation, has_empty_or_nested},
    {"concatenate-slices", of(Op::concatenate, {}), join_neighbours, has_neighbours},
    {"concatenate-splat", of(Op::concatenate, {}), pad_with_splat, ends_in_splat},
    {"reverse-ones", of(Op::reverse, {x}), reverse_less,
     [](C m) { return longer_than_one(m).size() != m.dimensions().size(); }},
    {"reverse-of-reverse", of(Op::reverse, {as('r', of(Op::reverse, {x}))}), reverse_difference},
};

}  // namespace

std::span<const Rule> slice_rules() { return kRules; }

}  // namespace armillary
