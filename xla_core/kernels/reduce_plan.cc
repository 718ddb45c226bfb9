#include "xla_core/kernels/reduce_plan.h"

#include <algorithm>

#include "xla_core/shape/index.h"

namespace armillary::kernels {
namespace {

constexpr int64_t kLeastLanes = 16;

// Ops through which a result element is found at the index of the reduce.
bool passes_place(const Instruction& i) {
  return i.def().is_pointwise() || is_reshape_like(i) || i.is(Op::tuple) || i.is(Op::get_tuple_element);
}

std::vector<ReducePart> parts_of(const Site& site, const std::vector<const Instruction*>& heroes) {
  const Dims& dims = heroes[0]->operand(0)->dims();
  const Dims strides = strides_of(dims);
  std::vector<bool> reduced(dims.size());
  for (int64_t d : heroes[0]->attrs().ints(Attr::dimensions)) reduced[d] = true;

  const Cuts all(site);
  std::set<int64_t> cuts;
  for (const Instruction* h : heroes)
    for (int64_t o = 0; o < h->num_operands() / 2; ++o)
      cuts.insert(all.of(h->operand(o)).begin(), all.of(h->operand(o)).end());
  std::erase_if(cuts, [&](int64_t c) { return product(dims) % c != 0; });
  std::set<int64_t> boundaries;  // these must be there
  int64_t before = -1;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    if (before >= 0 && reduced[d] != reduced[before]) boundaries.insert(strides[before]);
    before = static_cast<int64_t>(d);
  }
  for (int64_t cut : cuts)
    if (std::ranges::all_of(boundaries, [&](int64_t b) { return b % cut == 0 || cut % b == 0; }))
      boundaries.insert(cut);

  std::vector<ReducePart> parts;
  for (const Factor& f : factors_of(product(dims), boundaries, 1)) {
    bool is_reduced = false;
    for (size_t d = 0; d < dims.size(); ++d)
      if (dims[d] != 1 && f.stride >= strides[d] && f.stride < strides[d] * dims[d]) is_reduced = reduced[d];
    parts.push_back({f, is_reduced});
  }
  return parts;
}

// Two neighbours of one kind as one; their index is then divided.
void merge_last(std::vector<ReducePart>& parts) {
  const ReducePart last = parts.back();
  parts.pop_back();
  parts.back().factor = {parts.back().factor.extent * last.factor.extent, last.factor.stride};
}

// The innermost part when it is long enough; else a kept one, else a reduced one.
int choose_lane_part(const std::vector<ReducePart>& parts) {
  const int last = static_cast<int>(parts.size()) - 1;
  if (parts[last].factor.extent >= kLeastLanes) return last;
  for (bool reduced : {false, true})
    for (int p = last; p >= 0; --p)
      if (parts[p].reduced == reduced && parts[p].factor.extent >= kLeastLanes) return p;
  return last;
}

}  // namespace

std::vector<const Instruction*> hero_reduces(const Site& site) {
  std::vector<const Instruction*> heroes;
  std::unordered_set<const Instruction*> seen;
  std::vector<const Instruction*> stack(site.roots().begin(), site.roots().end());
  while (!stack.empty()) {
    const Instruction* i = stack.back();
    stack.pop_back();
    if (site.input_number(i) >= 0 || !seen.insert(i).second) continue;
    if (i->is(Op::reduce))
      heroes.push_back(i);
    else if (passes_place(*i))
      for (const Instruction* x : i->operands())
        if (x->shape().rank() > 0 || i->shape().rank() == 0) stack.push_back(x);
  }
  for (const Instruction* h : heroes) {
    const bool agrees = h->operand(0)->dims() == heroes[0]->operand(0)->dims() &&
                        h->attrs().ints(Attr::dimensions) == heroes[0]->attrs().ints(Attr::dimensions);
    if (!agrees || product(h->operand(0)->dims()) == 0) return {};
  }
  std::ranges::reverse(heroes);
  return heroes;
}

ReducePlan plan_reduce(const Site& site, const std::vector<const Instruction*>& heroes) {
  ReducePlan plan;
  plan.parts = parts_of(site, heroes);
  auto& parts = plan.parts;
  while (parts.size() > 1 && parts.back().factor.extent < kLeastLanes &&
         parts.back().reduced == parts[parts.size() - 2].reduced)
    merge_last(parts);
  for (size_t p = parts.size(); p-- > 0;) {
    ReducePart& part = parts[p];
    if (!part.reduced) part.result_stride = plan.kept;
    (part.reduced ? plan.reduced : plan.kept) *= part.factor.extent;
  }
  plan.lane_part = choose_lane_part(parts);
  return plan;
}

}  // namespace armillary::kernels
