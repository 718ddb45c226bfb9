// Windows that reach from one end of a dimension to the element itself (cumulative sums and the like): one
// running value instead of a sum a window.
#include <algorithm>

#include "xla_core/kernels/combiner.h"
#include "xla_core/kernels/lower_parts.h"
#include "xla_core/shape/index.h"

namespace armillary::kernels {
namespace {

constexpr int64_t kLeastLanes = 8;

struct Scan {
  const Instruction* window = nullptr;
  int64_t dim = 0;
  bool backwards = false;  // from the last element down
};

std::optional<Scan> as_scan(const Instruction* i) {
  if (!i->is(Op::reduce_window)) return std::nullopt;
  std::optional<Scan> scan;
  const Dims& dims = i->operand(0)->dims();
  for (size_t d = 0; d < dims.size(); ++d) {
    const WindowDim& w = i->attrs().window().dims[d];
    if (w.stride != 1 || w.lhs_dilate != 1 || w.rhs_dilate != 1) return std::nullopt;
    if (w.size == 1 && w.pad_low == 0 && w.pad_high == 0) continue;
    const bool forwards = w.pad_low == dims[d] - 1 && w.pad_high == 0,
               backwards = w.pad_low == 0 && w.pad_high == dims[d] - 1;
    if (scan || w.size != dims[d] || !(forwards || backwards)) return std::nullopt;
    scan = Scan{i, static_cast<int64_t>(d), backwards && !forwards};
  }
  return scan;
}

// Roots find the scan's value at their own index.
std::optional<Scan> hero_scan(const Site& site) {
  std::optional<Scan> hero;
  for (const Instruction* i : site.body()) {
    if (site.input_number(i) >= 0) continue;
    if (!i->is(Op::reduce_window)) continue;
    if (hero) return std::nullopt;
    hero = as_scan(i);
    if (!hero) return std::nullopt;
  }
  if (!hero) return std::nullopt;
  for (const Instruction* root : site.roots())
    while (root != hero->window) {
      if (!root->is(Op::get_tuple_element) &&
          !(root->def().meaning == Meaning::kScalar && root->num_operands() == 1))
        return std::nullopt;
      root = root->operand(0);
    }
  return hero;
}

}  // namespace

bool is_scan(const Site& site) { return hero_scan(site).has_value(); }

void lower_scan(const Site& site, Lowering& lowering) {
  const Scan scan = *hero_scan(site);
  const Instruction* window = scan.window;
  const Combiner combiner(*window);
  const Dims& dims = window->operand(0)->dims();
  const int64_t length = dims[scan.dim], inner = strides_of(dims)[scan.dim],
                outer = product(dims) / length / inner;
  KernelWriter w(site, lowering);
  KernelBuilder& b = w.b;

  const auto along = [&](Val row, Val column) {
    std::vector<Val> start;
    for (int64_t o = combiner.size(); o < window->num_operands(); ++o)
      start.push_back(w.elements.at(window->operand(o), Index()));
    b.loop(length, combiner.widen(b, start), [&](Val i, std::span<const Val> carried) {
      const Val place = scan.backwards ? b.sub(b.index_const(length - 1), i) : i;
      const Index at({{outer, length * inner, row}, {length, inner, place}, {inner, 1, column}});
      std::vector<Val> x;
      for (int64_t o = 0; o < combiner.size(); ++o) x.push_back(w.elements.at(window->operand(o), at));
      const std::vector<Val> next = combiner.combine(b, carried, combiner.widen(b, x));
      w.elements.remember(window, at, combiner.narrow(b, next));
      w.store_roots(at);
      return next;
    });
  };
  if (inner < kLeastLanes) {
    b.kernel().extent = outer * inner;
    along(b.floor_div(b.outer_index(), inner), b.mod(b.outer_index(), inner));
  } else {
    loop_nest(b, {{outer, inner}, {inner, 1}}, static_cast<double>(length), [&](const Index& at) {
      const std::vector<Val> place = at.along(b, Dims{outer, inner});
      along(place[0], place[1]);
    });
  }
  w.finish();
}

}  // namespace armillary::kernels
