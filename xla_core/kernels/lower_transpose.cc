// Transposes: a tile is read along the operand's rows, kept in local memory, and written along the result's
// rows.
#include <algorithm>

#include "xla_core/kernels/lower_parts.h"

namespace armillary::kernels {
namespace {

constexpr int64_t kTileBytes = 256;  // along each side
constexpr int64_t kLeastExtent = 8;

// Where, in the result's factors, the operand of a transpose is contiguous.
struct Turn {
  std::vector<const Instruction*> transposes;  // found by the roots at their own index
  size_t fast = 0;                             // the factor along which the operands are contiguous
};

// The stride in the transpose's operand of a step of `stride` in its result.
int64_t operand_stride(const Instruction* transpose, int64_t stride) {
  const Dims strides = strides_of(transpose->dims()), from = strides_of(transpose->operand(0)->dims());
  const Dims& permutation = transpose->attrs().ints(Attr::dimensions);
  for (size_t d = 0; d < strides.size(); ++d)
    if (transpose->dims()[d] != 1 && stride >= strides[d] && stride < strides[d] * transpose->dims()[d])
      return stride / strides[d] * from[permutation[d]];
  return 0;
}

std::vector<const Instruction*> own_place_transposes(const Site& site) {
  std::vector<const Instruction*> found;
  std::unordered_set<const Instruction*> seen;
  std::vector<const Instruction*> stack(site.roots().begin(), site.roots().end());
  while (!stack.empty()) {
    const Instruction* i = stack.back();
    stack.pop_back();
    if (site.input_number(i) >= 0 || !seen.insert(i).second || i->shape().rank() == 0) continue;
    if (i->is(Op::transpose))
      found.push_back(i);
    else if (i->def().meaning == Meaning::kScalar || is_reshape_like(*i))
      stack.insert(stack.end(), i->operands().begin(), i->operands().end());
  }
  return found;
}

std::optional<Turn> find_turn(const Site& site, const std::vector<Factor>& factors) {
  Turn turn;
  for (const Instruction* t : own_place_transposes(site)) {
    if (operand_stride(t, factors.back().stride) == 1) continue;  // contiguous as it is
    size_t fast = factors.size();
    for (size_t k = 0; k + 1 < factors.size(); ++k)
      if (operand_stride(t, factors[k].stride) == 1) fast = k;
    if (fast == factors.size() || factors[fast].extent < kLeastExtent) continue;
    if (!turn.transposes.empty() && fast != turn.fast) return std::nullopt;
    turn.fast = fast;
    turn.transposes.push_back(t);
  }
  if (turn.transposes.empty() || factors.back().extent < kLeastExtent) return std::nullopt;
  return turn;
}

std::vector<Factor> space_of(const Site& site) {
  const Cuts all(site);
  std::set<int64_t> cuts;
  for (const Instruction* r : site.roots()) cuts.insert(all.of(r).begin(), all.of(r).end());
  return factors_of(site.roots()[0]->shape().num_elements(), cuts, 1);
}

// A side of the tile: of `size` steps but for the last one.
struct Side {
  Factor factor;
  int64_t size = 0, count = 0;
  Val first, extent;  // extent: invalid when always `size`
  void place(KernelBuilder& b, Val tile) {
    first = b.mul(tile, b.index_const(size));
    if (factor.extent % size != 0)
      extent = b.min(b.sub(b.index_const(factor.extent), first), b.index_const(size));
  }
};
Side make_side(const Factor& f, int64_t wanted) {
  const int64_t size = std::min(f.extent, wanted);
  return {f, size, (f.extent + size - 1) / size, {}, {}};
}

}  // namespace

bool is_turned(const Site& site) {
  for (const Instruction* r : site.roots())
    if (!r->shape().is_array() || r->shape().num_elements() == 0) return false;
  return find_turn(site, space_of(site)).has_value();
}

void lower_transpose(const Site& site, Lowering& lowering) {
  const std::vector<Factor> factors = space_of(site);
  const Turn turn = *find_turn(site, factors);
  int64_t widest = 1;
  for (const Instruction* t : turn.transposes) widest = std::max<int64_t>(widest, byte_size(t->dtype()));
  const int64_t wanted = std::max<int64_t>(kTileBytes / widest / 2, kLeastExtent);
  Side fast = make_side(factors[turn.fast], wanted), last = make_side(factors.back(), wanted);
  KernelWriter w(site, lowering);
  KernelBuilder& b = w.b;

  // Tiles for threads; the tile along the operand's rows changes fastest.
  std::vector<Factor> outer = factors;
  outer[turn.fast].extent = fast.count;
  outer.back().extent = last.count;
  Dims extents;
  for (const Factor& f : outer) extents.push_back(f.extent);
  b.kernel().extent = 1;
  for (int64_t e : extents) b.kernel().extent *= e;
  const std::vector<Val> tile = b.delinearize(b.outer_index(), extents);
  fast.place(b, tile[turn.fast]);
  last.place(b, tile.back());
  const auto index_at = [&](Val along_fast, Val along_last) {
    std::vector<Digit> digits;
    for (size_t k = 0; k < factors.size(); ++k) {
      const Val v = k == turn.fast            ? b.add(fast.first, along_fast)
                    : k + 1 == factors.size() ? b.add(last.first, along_last)
                                              : tile[k];
      digits.push_back({factors[k].extent, factors[k].stride, v});
    }
    return Index(std::move(digits));
  };

  const int64_t pitch = fast.size + 1;  // neighbours in a column must not fall into one bank
  std::vector<int> locals;
  for (const Instruction* t : turn.transposes) locals.push_back(b.add_local(t->dtype(), last.size * pitch));
  b.loop(last.extent, last.size, {}, [&](Val j, auto) {
    b.lane_loop(fast.extent, fast.size, [&](Val k) {
      const Val place = b.add(b.mul(j, b.index_const(pitch)), k);
      for (size_t t = 0; t < locals.size(); ++t)
        b.store_at(locals[t], place, w.elements.at(turn.transposes[t], index_at(k, j)));
    });
    return std::vector<Val>();
  });
  b.loop(fast.extent, fast.size, {}, [&](Val k, auto) {
    b.lane_loop(last.extent, last.size, [&](Val j) {
      const Index at = index_at(k, j);
      const Val place = b.add(b.mul(j, b.index_const(pitch)), k);
      for (size_t t = 0; t < locals.size(); ++t)
        w.elements.remember(turn.transposes[t], at, {b.load_at(locals[t], place)});
      w.store_roots(at);
    });
    return std::vector<Val>();
  });
  w.finish();
}

}  // namespace armillary::kernels
