#include "xla_core/ops/index_recipes.h"

#include <algorithm>

namespace armillary {

Val broadcast_element(TapeBuilder& b, Index index, const OpContext& c, const Shape&) {
  std::vector<Val> from;
  for (int64_t d : c.attrs.ints(Attr::dimensions)) from.push_back(index[d]);
  return load_operand(b, c, 0, from);
}

Val transpose_element(TapeBuilder& b, Index index, const OpContext& c, const Shape&) {
  const Dims& permutation = c.attrs.ints(Attr::dimensions);
  std::vector<Val> from(index.size());
  for (size_t i = 0; i < index.size(); ++i) from[permutation[i]] = index[i];
  return load_operand(b, c, 0, from);
}

std::vector<Val> reshape_index(TapeBuilder& b, Index index, std::span<const int64_t> from,
                               std::span<const int64_t> to) {
  std::vector<Val> result;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    const size_t first_from = i, first_to = j;
    int64_t have = i < from.size() ? from[i++] : 1, want = j < to.size() ? to[j++] : 1;
    while (have != want) {  // equal element counts: the products meet at the latest at the end
      if (have < want && i < from.size())
        have *= from[i++];
      else if (j < to.size())
        want *= to[j++];
      else
        break;
    }
    const Val linear =
        b.linear_index(from.subspan(first_from, i - first_from), index.subspan(first_from, i - first_from));
    for (Val v : b.delinearize(linear, to.subspan(first_to, j - first_to))) result.push_back(v);
  }
  return result;
}

Val reshape_element(TapeBuilder& b, Index index, const OpContext& c, const Shape& result) {
  if (result.num_elements() == 0) return b.zero(result.dtype);
  return load_operand(b, c, 0, reshape_index(b, index, result.dims, c.operand(0).dims));
}

Val reverse_element(TapeBuilder& b, Index index, const OpContext& c, const Shape& result) {
  std::vector<Val> from(index.begin(), index.end());
  for (int64_t d : c.attrs.ints(Attr::dimensions))
    from[d] = b.sub(b.index_const(result.dims[d] - 1), index[d]);
  return load_operand(b, c, 0, from);
}

Val slice_element(TapeBuilder& b, Index index, const OpContext& c, const Shape&) {
  const Slices& slices = c.attrs.slices();
  std::vector<Val> from;
  for (size_t d = 0; d < index.size(); ++d)
    from.push_back(b.add(b.mul(index[d], b.index_const(slices[d].stride)), b.index_const(slices[d].start)));
  return load_operand(b, c, 0, from);
}

// The load happens whether its element is wanted or not, so its index is kept in range.
Val pad_element(TapeBuilder& b, Index index, const OpContext& c, const Shape&) {
  const Shape& x = c.operand(0);
  const Val filler = load_operand(b, c, 1, {});
  if (x.num_elements() == 0) return filler;
  std::vector<Val> from;
  Val inside;  // invalid: everywhere
  auto require = [&](Val condition) { inside = inside.valid() ? b.bit_and(inside, condition) : condition; };
  for (size_t d = 0; d < index.size(); ++d) {
    const PadDim& p = c.attrs.padding()[d];
    if (p.low == 0 && p.high <= 0 && p.interior == 0) {  // nothing is put in
      from.push_back(index[d]);
      continue;
    }
    const int64_t step = p.interior + 1, last = (x.dims[d] - 1) * step;
    const Val offset = b.sub(index[d], b.index_const(p.low));
    if (p.low > 0) require(b.compare(Prim::kGe, offset, b.index_const(0)));
    if (p.high > 0) require(b.compare(Prim::kLe, offset, b.index_const(last)));
    const Val clamped = b.clamp_index(offset, 0, last);
    if (p.interior > 0) require(b.compare(Prim::kEq, b.mod(clamped, step), b.index_const(0)));
    from.push_back(b.floor_div(clamped, step));
  }
  const Val value = load_operand(b, c, 0, from);
  return inside.valid() ? b.select(inside, value, filler) : value;
}

Val concatenate_element(TapeBuilder& b, Index index, const OpContext& c, const Shape& result) {
  const int64_t along = c.attrs.ints(Attr::dimensions)[0];
  Val value;
  int64_t begin = 0;
  for (int i = 0; i < static_cast<int>(c.operands.size()); ++i) {
    const int64_t size = c.operand(i).dims[along];
    if (size == 0) continue;
    std::vector<Val> from(index.begin(), index.end());
    const Val offset = b.sub(index[along], b.index_const(begin));
    from[along] = size == result.dims[along] ? offset : b.clamp_index(offset, 0, size - 1);
    const Val part = load_operand(b, c, i, from);
    value = value.valid() ? b.select(b.compare(Prim::kLt, index[along], b.index_const(begin)), value, part)
                          : part;
    begin += size;
  }
  return value.valid() ? value : b.zero(result.dtype);
}

Val iota_element(TapeBuilder& b, Index index, const OpContext& c, const Shape& result) {
  if (result.rank() == 0) return b.zero(result.dtype);
  return b.convert(index[c.attrs.integer(Attr::iota_dimension, 0)], result.dtype);
}

Val copy_element(TapeBuilder& b, Index index, const OpContext& c, const Shape&) {
  return load_operand(b, c, 0, index);
}

namespace {

// Dimensions in the order of memory, outermost first.
std::vector<int64_t> physical_order(const Shape& shape) {
  std::vector<int64_t> order;
  if (shape.layout) {
    order.assign(shape.layout->minor_to_major.rbegin(), shape.layout->minor_to_major.rend());
  } else {
    for (int64_t d = 0; d < shape.rank(); ++d) order.push_back(d);
  }
  return order;
}

}  // namespace

// A reshape between the shapes as they lie in memory.
Val bitcast_element(TapeBuilder& b, Index index, const OpContext& c, const Shape& result) {
  const Shape& x = c.operand(0);
  if (result.num_elements() == 0) return b.zero(result.dtype);
  if (bit_width(x.dtype) != bit_width(result.dtype))
    throw unsupported_error("bitcast from {} to {}", to_string(x), to_string(result));
  const std::vector<int64_t> from_order = physical_order(result), to_order = physical_order(x);
  std::vector<Val> from_index, to_index(x.rank());
  Dims from, to;
  for (int64_t d : from_order) from.push_back(result.dims[d]), from_index.push_back(index[d]);
  for (int64_t d : to_order) to.push_back(x.dims[d]);
  const std::vector<Val> physical = reshape_index(b, from_index, from, to);
  for (size_t i = 0; i < to_order.size(); ++i) to_index[to_order[i]] = physical[i];
  return b.bitcast(b.load(0, x.dtype, x.dims, to_index), result.dtype);
}

}  // namespace armillary
