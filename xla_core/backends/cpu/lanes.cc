#include "xla_core/backends/cpu/lanes.h"

#include <algorithm>
#include <bit>

#include "xla_core/base/error.h"

namespace armillary::cpu {
namespace {

constexpr LaneKind kVaries = {LaneKind::kVarying, 0};

bool is_control(Prim p) { return p >= Prim::kLoopBegin && p <= Prim::kStore; }

class Analysis {
 public:
  Analysis(const Kernel& kernel, int begin, int end) : nodes_(kernel.body.nodes), begin_(begin), end_(end) {
    kinds_.resize(nodes_.size());
    kinds_[begin] = {LaneKind::kStrided, 1};
  }

  // Carries may turn from uniform to varying; then everything behind them is looked at again.
  bool run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (int i = begin_ + 1; i < end_; ++i)
        if (!visit(i, &changed)) return false;
    }
    return true;
  }
  std::vector<LaneKind> take() { return std::move(kinds_); }

 private:
  const LaneKind& kind(int node) const { return kinds_[node]; }
  bool uniform(int node) const { return node < 0 || kind(node).kind == LaneKind::kUniform; }

  bool visit(int i, bool* changed) {
    const TapeNode& n = nodes_[i];
    switch (n.prim) {
      case Prim::kIfBegin:
        return uniform(n.a);  // lanes that part ways need scalar code
      case Prim::kLoopBegin:
        return uniform(n.a);
      case Prim::kLoopResult:
        if (!uniform(n.b)) mark(n.a, changed), mark(i, changed);
        if (!uniform(n.a)) mark(i, changed);
        return true;
      case Prim::kCarry:
        if (!uniform(n.a)) mark(i, changed);
        return true;
      case Prim::kStore:
        return !uniform(n.a);
      default:
        if (!is_control(n.prim)) kinds_[i] = of_value(n);
        return true;
    }
  }

  void mark(int node, bool* changed) {
    if (kinds_[node].kind == LaneKind::kVarying) return;
    kinds_[node] = kVaries;
    *changed = true;
  }

  LaneKind of_value(const TapeNode& n) const {
    if (uniform(n.a) && uniform(n.b) && uniform(n.c)) return {};
    if (n.dtype != DType::kS64) return kVaries;
    const LaneKind a = n.a >= 0 ? kind(n.a) : LaneKind{}, b = n.b >= 0 ? kind(n.b) : LaneKind{};
    if (a.kind == LaneKind::kVarying || b.kind == LaneKind::kVarying) return kVaries;
    if (n.prim == Prim::kAdd) return strided(a.stride + b.stride);
    if (n.prim == Prim::kSub) return strided(a.stride - b.stride);
    if (n.prim == Prim::kMul && nodes_[n.b].prim == Prim::kConst) return strided(a.stride * nodes_[n.b].imm);
    if (n.prim == Prim::kMul && nodes_[n.a].prim == Prim::kConst) return strided(b.stride * nodes_[n.a].imm);
    return kVaries;
  }
  static LaneKind strided(int64_t stride) {
    return stride == 0 ? LaneKind{} : LaneKind{LaneKind::kStrided, stride};
  }

  const std::vector<TapeNode>& nodes_;
  int begin_, end_;
  std::vector<LaneKind> kinds_;
};

struct BodyFacts {
  int widest_bits = 8;
  int operations = 0;  // on vectors
  bool has_loop = false;
};

BodyFacts facts_of(const Kernel& kernel, const std::vector<LaneKind>& kinds, int begin, int end) {
  BodyFacts f;
  for (int i = begin + 1; i < end; ++i) {
    const TapeNode& n = kernel.body.nodes[i];
    f.has_loop |= n.prim == Prim::kLoopBegin;
    if (kinds[i].kind != LaneKind::kVarying) continue;
    f.widest_bits = std::max(f.widest_bits, std::max(8, bit_width(n.dtype)));
    if (n.prim != Prim::kLoad && n.prim != Prim::kConst) ++f.operations;
  }
  return f;
}

// Two registers a value hide latencies of short bodies; long bodies need the registers.
int choose_lanes(const BodyFacts& f, int64_t bound, bool exact, int vector_bits) {
  constexpr int kShortBody = 24;
  constexpr int kMaxLanes = 64;
  const int native = vector_bits / f.widest_bits;
  const int64_t fitting =
      static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(bound, 1))));
  if (exact && f.has_loop && fitting == bound && bound <= kMaxLanes) return static_cast<int>(bound);
  int64_t lanes = f.operations <= kShortBody ? native * 2 : native;
  lanes = std::min<int64_t>({lanes, kMaxLanes, fitting});
  while (exact && lanes > native && bound % lanes != 0) lanes /= 2;
  return static_cast<int>(lanes);
}

}  // namespace

LanePlan plan_lanes(const Kernel& kernel, int begin, int end, int vector_bits) {
  LanePlan plan;
  if (vector_bits == 0) return plan;
  Analysis analysis(kernel, begin, end);
  if (!analysis.run()) return plan;
  plan.kinds = analysis.take();
  const TapeNode& loop = kernel.body.nodes[begin];
  plan.lanes = choose_lanes(facts_of(kernel, plan.kinds, begin, end), loop.imm, loop.a < 0, vector_bits);
  return plan;
}

std::vector<int> matching_ends(const Tape& tape) {
  std::vector<int> ends(tape.nodes.size(), -1), open;
  for (int i = 0; i < static_cast<int>(tape.nodes.size()); ++i) {
    const Prim p = tape.nodes[i].prim;
    if (p == Prim::kLoopBegin || p == Prim::kIfBegin) open.push_back(i);
    if (p != Prim::kLoopEnd && p != Prim::kIfEnd) continue;
    ARM_CHECK(!open.empty());
    ends[open.back()] = i;
    open.pop_back();
  }
  return ends;
}

}  // namespace armillary::cpu
