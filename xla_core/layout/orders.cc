#include "xla_core/layout/orders.h"

namespace armillary {

bool plain(const Shape& s) { return !s.layout || s.layout->is_row_major(); }

Dims major_to_minor(const Shape& s) {
  return Dims(s.layout->minor_to_major.rbegin(), s.layout->minor_to_major.rend());
}

Instruction* transpose(Instruction* x, const Dims& permutation, Instruction* before) {
  Attrs attrs;
  attrs.set(Attr::dimensions, permutation);
  Shape shape(x->dtype(), permuted(x->dims(), permutation));
  return x->parent()->add(Op::transpose, std::move(shape), {x}, std::move(attrs), before);
}

bool make_row_major(Shape& s) {
  if (s.is_tuple()) {
    bool changed = false;
    for (Shape& element : s.tuple) changed |= make_row_major(element);
    return changed;
  }
  if (!s.is_array()) return false;
  Layout row_major = Layout::row_major(s.rank());
  if (s.layout == row_major) return false;
  s.layout = std::move(row_major);
  return true;
}

}  // namespace armillary
