// Elements of reductions that are computed where they are used, one after the other.
#include "xla_core/kernels/combiner.h"
#include "xla_core/kernels/elements.h"

namespace armillary::kernels {
namespace {

// A loop of loops: body(indices, carried) for every index of a box.
std::vector<Val> loops(
    KernelBuilder& b, const Dims& extents, std::vector<Val> indices, std::span<const Val> start,
    const std::function<std::vector<Val>(const std::vector<Val>&, std::span<const Val>)>& body) {
  if (indices.size() == extents.size()) return body(indices, start);
  return b.loop(extents[indices.size()], start, [&](Val i, std::span<const Val> carried) {
    indices.push_back(i);
    std::vector<Val> next = loops(b, extents, indices, carried, body);
    indices.pop_back();
    return next;
  });
}

}  // namespace

std::vector<Val> Elements::reduced(const Instruction* i, const Index& index) {
  const Combiner combiner(*i);
  const Dims& dims = i->operand(0)->dims();
  const Shape& result = i->shape().is_tuple() ? i->shape().tuple[0] : i->shape();
  const std::vector<Val> kept = index.along(b_, result.dims);
  std::vector<bool> reduced(dims.size());
  Dims extents;
  for (int64_t d : i->attrs().ints(Attr::dimensions)) reduced[d] = true;
  for (size_t d = 0; d < dims.size(); ++d)
    if (reduced[d]) extents.push_back(dims[d]);

  std::vector<Val> start;
  for (int64_t o = combiner.size(); o < i->num_operands(); ++o) start.push_back(at(i->operand(o), Index()));
  const auto sums = loops(b_, extents, {}, combiner.widen(b_, start),
                          [&](const std::vector<Val>& r, std::span<const Val> carried) {
                            std::vector<Val> place, x;
                            size_t next_kept = 0, next_reduced = 0;
                            for (size_t d = 0; d < dims.size(); ++d)
                              place.push_back(reduced[d] ? r[next_reduced++] : kept[next_kept++]);
                            const Index from = Index::of_dims(dims, place);
                            for (int64_t o = 0; o < combiner.size(); ++o)
                              x.push_back(at(i->operand(o), from));
                            return combiner.combine(b_, carried, combiner.widen(b_, x));
                          });
  return combiner.narrow(b_, sums);
}

std::vector<Val> Elements::windowed(const Instruction* i, const Index& index) {
  const Combiner combiner(*i);
  const Dims& dims = i->operand(0)->dims();
  const Window& window = i->attrs().window();
  const Shape& result = i->shape().is_tuple() ? i->shape().tuple[0] : i->shape();
  const std::vector<Val> place = index.along(b_, result.dims);
  Dims extents;
  for (const WindowDim& w : window.dims) extents.push_back(w.size);

  std::vector<Val> start;
  for (int64_t o = combiner.size(); o < i->num_operands(); ++o) start.push_back(at(i->operand(o), Index()));
  const auto sums = loops(b_, extents, {}, combiner.widen(b_, start),
                          [&](const std::vector<Val>& in_window, std::span<const Val> carried) {
                            std::vector<Val> from, x;
                            Val inside;
                            for (size_t d = 0; d < dims.size(); ++d)
                              from.push_back(window_position(b_, window.dims[d], dims[d], result.dims[d],
                                                             place[d], in_window[d], &inside));
                            const Index here = Index::of_dims(dims, from);
                            for (int64_t o = 0; o < combiner.size(); ++o)
                              x.push_back(at(i->operand(o), here));
                            std::vector<Val> next = combiner.combine(b_, carried, combiner.widen(b_, x));
                            if (inside.valid())
                              for (size_t k = 0; k < next.size(); ++k)
                                next[k] = b_.select(inside, next[k], carried[k]);
                            return next;
                          });
  return combiner.narrow(b_, sums);
}

Val window_position(KernelBuilder& b, const WindowDim& w, int64_t size, int64_t results, Val result,
                    Val in_window, Val* inside) {
  Val p = b.add(b.mul(result, b.index_const(w.stride)), b.mul(in_window, b.index_const(w.rhs_dilate)));
  p = b.sub(p, b.index_const(w.pad_low));
  auto require = [&](Val condition) {
    *inside = inside->valid() ? b.bit_and(*inside, condition) : condition;
  };
  const int64_t last = (size - 1) * w.lhs_dilate;  // of the dilated operand
  const int64_t furthest = (results - 1) * w.stride + (w.size - 1) * w.rhs_dilate - w.pad_low;
  if (w.pad_low > 0) require(b.compare(Prim::kGe, p, b.index_const(0)));
  if (furthest > last) require(b.compare(Prim::kLe, p, b.index_const(last)));
  if (w.pad_low > 0 || furthest > last) p = b.clamp_index(p, 0, last);
  if (w.lhs_dilate == 1) return p;
  require(b.compare(Prim::kEq, b.mod(p, w.lhs_dilate), b.index_const(0)));
  return b.floor_div(p, w.lhs_dilate);
}

}  // namespace armillary::kernels
