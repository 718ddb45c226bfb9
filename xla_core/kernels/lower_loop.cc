// Roots whose elements are computed one by one, and those that are made of pieces.
#include <algorithm>

#include "xla_core/kernels/lower_parts.h"
#include "xla_core/shape/index.h"

namespace armillary::kernels {
namespace {

// Stores `value(index)` for every index of a box of `dims` inside the result, whose element 0 is `offset`
// along each dimension and whose neighbours lie `steps` apart.
struct Box {
  Dims dims, offset, steps;
};

// The box's digits must tell its dimensions apart, unless they are whole and so contiguous in the result.
std::set<int64_t> box_cuts(const Box& box, const Dims& result) {
  std::set<int64_t> cuts;
  const Dims strides = strides_of(box.dims);
  for (int64_t d = static_cast<int64_t>(box.dims.size()) - 1; d > 0; --d)
    if (box.dims[d] != result[d] || box.steps[d] != 1) cuts.insert(strides[d - 1]);
  std::erase_if(cuts, [&](int64_t c) { return c <= 1 || c >= product(box.dims); });
  return cuts;
}

using ElementAt = std::function<Val(const Index&)>;

void store_box(KernelWriter& w, const Box& box, std::set<int64_t> cuts, const ElementAt& value) {
  const Dims result = leaves_of(w.site.instr().shape())[0]->dims, strides = strides_of(result);
  cuts.merge(box_cuts(box, result));
  const Dims box_strides = strides_of(box.dims);
  int64_t base = 0;
  for (size_t d = 0; d < result.size(); ++d) base += box.offset[d] * strides[d];
  loop_nest(w.b, factors_of(product(box.dims), cuts), cost_of(w.site), [&](const Index& index) {
    const Val v = value(index);
    std::vector<Digit> digits;
    for (size_t d = 0; d < result.size(); ++d)
      for (Digit digit : index.between(w.b, box_strides[d], box_strides[d] * box.dims[d])) {
        digit.stride *= strides[d] * box.steps[d];
        digits.push_back(digit);
      }
    w.store(0, w.b.add(Index(std::move(digits)).linear(w.b), w.b.index_const(base)), v);
  });
}

}  // namespace

void lower_loop(const Site& site, Lowering& lowering) {
  KernelWriter w(site, lowering);
  const Cuts all(site);
  std::set<int64_t> cuts;
  for (const Instruction* r : site.roots()) cuts.insert(all.of(r).begin(), all.of(r).end());
  const int64_t total = leaves_of(site.instr().shape())[0]->num_elements();
  loop_nest(w.b, factors_of(total, cuts), cost_of(site), [&](const Index& index) { w.store_roots(index); });
  w.finish();
}

void lower_concatenate(const Site& site, Lowering& lowering) {
  const Instruction* root = site.roots()[0];
  const Cuts cuts(site);
  const int64_t along = root->attrs().ints(Attr::dimensions)[0];
  Box box{{}, Dims(root->shape().rank(), 0), Dims(root->shape().rank(), 1)};
  for (const Instruction* piece : root->operands()) {
    box.dims = piece->dims();
    if (product(box.dims) > 0) {
      KernelWriter w(site, lowering);
      store_box(w, box, cuts.of(piece), [&](const Index& index) { return w.elements.at(piece, index); });
      w.finish();
    }
    box.offset[along] += piece->dims()[along];
  }
}

// Filling all of it writes what the second kernel overwrites; next to that, a choice per element costs more.
void lower_pad(const Site& site, Lowering& lowering) {
  const Instruction* root = site.roots()[0];
  const Instruction* inside = root->operand(0);
  const int64_t rank = root->shape().rank();
  const Cuts cuts(site);
  Box whole{root->dims(), Dims(rank, 0), Dims(rank, 1)}, part{Dims(rank), Dims(rank), Dims(rank)};
  Dims first(rank);
  for (int64_t d = 0; d < rank; ++d) {
    const PadDim& p = root->attrs().padding()[d];
    const int64_t step = p.interior + 1, n = inside->dims()[d];
    first[d] = p.low < 0 ? (-p.low + step - 1) / step : 0;  // negative padding cuts elements off
    part.steps[d] = step;
    part.offset[d] = p.low + first[d] * step;
    const int64_t room = root->dims()[d] - part.offset[d];
    part.dims[d] =
        std::clamp<int64_t>(room > 0 ? (room - 1) / step + 1 : 0, 0, std::max<int64_t>(n - first[d], 0));
  }
  if (part.dims != root->dims()) {
    KernelWriter w(site, lowering);
    store_box(w, whole, {}, [&](const Index&) { return w.elements.at(root->operand(1), Index()); });
    w.finish();
  }
  if (product(part.dims) == 0) return;
  KernelWriter w(site, lowering);
  const bool complete = part.dims == inside->dims();
  const std::set<int64_t> inner = complete ? cuts.of(inside) : dimension_cuts(part.dims);
  store_box(w, part, inner, [&](const Index& index) {
    if (complete) return w.elements.at(inside, index);
    std::vector<Val> x = index.along(w.b, part.dims);
    for (int64_t d = 0; d < rank; ++d) x[d] = w.b.add(x[d], w.b.index_const(first[d]));
    return w.elements.at(inside, Index::of_dims(inside->dims(), x));
  });
  w.finish();
}

namespace {

// Start indices are scalars, one a dimension, or one vector; clamped. A u64 beyond s64 is huge, not negative.
Val start_index(KernelWriter& w, const Instruction& update, int64_t d, int64_t limit) {
  const Instruction* first = update.operand(2);
  const bool vector = first->shape().rank() == 1;
  const Index at = vector ? Index::of_dims(first->dims(), std::vector<Val>{w.b.index_const(d)}) : Index();
  Val start = w.elements.at(vector ? first : update.operand(2 + d), at);
  if (start.dtype == DType::kU64) start = w.b.min(start, w.b.constant_int(DType::kU64, limit));
  return w.b.clamp_index(w.b.convert(start, DType::kS64), 0, limit);
}

}  // namespace

void lower_update(const Site& site, Lowering& lowering) {
  KernelWriter w(site, lowering);
  const Cuts all(site);
  const auto& roots = site.roots();
  const Dims dims = roots[0]->operand(1)->dims();
  std::set<int64_t> cuts;
  for (const Instruction* r : roots) {
    cuts.insert(all.of(r->operand(1)).begin(), all.of(r->operand(1)).end());
    cuts.merge(box_cuts({dims, Dims(dims.size(), 0), Dims(dims.size(), 1)}, r->dims()));
  }
  const Dims box_strides = strides_of(dims);
  loop_nest(w.b, factors_of(product(dims), cuts), cost_of(site), [&](const Index& index) {
    std::vector<Val> values, places;
    for (const Instruction* r : roots) {
      values.push_back(w.elements.at(r->operand(1), index));
      const Dims strides = strides_of(r->dims());
      Val base = w.b.index_const(0);
      std::vector<Digit> digits;
      for (int64_t d = 0; d < r->shape().rank(); ++d) {
        const Val inside = start_index(w, *r, d, r->dims()[d] - dims[d]);
        base = w.b.add(base, w.b.mul(inside, w.b.index_const(strides[d])));
        for (Digit digit : index.between(w.b, box_strides[d], box_strides[d] * dims[d])) {
          digit.stride *= strides[d];
          digits.push_back(digit);
        }
      }
      places.push_back(w.b.add(base, Index(std::move(digits)).linear(w.b)));
    }
    for (size_t leaf = 0; leaf < roots.size(); ++leaf)
      w.store(static_cast<int64_t>(leaf), places[leaf], values[leaf]);
  });
  w.finish();
}

}  // namespace armillary::kernels
