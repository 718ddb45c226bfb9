#include "xla_core/kernels/nest.h"
#include "xla_core/shape/index.h"

namespace armillary::kernels {

std::set<int64_t> dimension_cuts(const Dims& dims) {
  std::set<int64_t> cuts;
  const int64_t total = product(dims);
  for (int64_t stride : strides_of(dims))
    if (stride > 1 && stride < total) cuts.insert(stride);
  return cuts;
}

Cuts::Cuts(const Site& site) : site_(site) {
  for (const Instruction* i : site.body()) cuts_.emplace(i, compute(i));
}

std::set<int64_t> Cuts::compute(const Instruction* i) const {
  if (site_.input_number(i) >= 0 || i->is(Op::constant)) return {};
  if (is_reshape_like(*i)) return cuts_.at(i->operand(0));
  if (i->is(Op::broadcast)) {
    std::vector<int64_t> from(i->shape().rank(), -1);
    const Dims& map = i->attrs().ints(Attr::dimensions);
    for (size_t d = 0; d < map.size(); ++d) from[map[d]] = static_cast<int64_t>(d);
    return of_map(i, from);
  }
  if (i->is(Op::transpose)) return of_map(i, i->attrs().ints(Attr::dimensions));
  if (i->def().is_pointwise() || i->is(Op::get_tuple_element) || i->is(Op::tuple)) {
    std::set<int64_t> cuts;
    for (const Instruction* operand : i->operands())
      cuts.insert(cuts_.at(operand).begin(), cuts_.at(operand).end());
    return cuts;
  }
  return i->shape().is_tuple() ? std::set<int64_t>() : dimension_cuts(i->dims());
}

// operand_dim[d]: the dimension of operand 0 that result dimension d runs through, -1 for none. Neighbours in
// the result that are neighbours in the operand, or that both repeat it, need no cut between them.
std::set<int64_t> Cuts::of_map(const Instruction* i, const std::vector<int64_t>& operand_dim) const {
  const Dims &dims = i->dims(), &from = i->operand(0)->dims();
  const Dims strides = strides_of(dims), from_strides = strides_of(from);
  std::set<int64_t> cuts;
  int64_t before = -1;  // the nearest larger result dimension of size > 1
  for (int64_t d = 0; d < i->shape().rank(); ++d) {
    if (dims[d] == 1) continue;
    const int64_t x = operand_dim[d];
    if (before >= 0) {
      const int64_t y = operand_dim[before];
      bool together = x < 0 && y < 0;
      if (x >= 0 && y >= 0 && x > y) {
        together = true;
        for (int64_t k = y + 1; k < x; ++k) together &= from[k] == 1;
      }
      if (!together) cuts.insert(strides[before]);
    }
    before = d;
    if (x < 0) continue;
    for (int64_t cut : cuts_.at(i->operand(0)))
      if (cut >= from_strides[x] && cut < from_strides[x] * from[x] && cut % from_strides[x] == 0)
        cuts.insert(cut / from_strides[x] * strides[d]);
  }
  const int64_t total = product(dims);
  std::erase_if(cuts, [&](int64_t c) { return c <= 1 || c >= total; });
  return cuts;
}

}  // namespace armillary::kernels
