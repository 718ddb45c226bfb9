// Reductions: along rows in lanes, along columns with a lane a column, and in two steps when there are few
// results and many elements.
#include <algorithm>

#include "xla_core/kernels/combiner.h"
#include "xla_core/kernels/lower_parts.h"
#include "xla_core/kernels/reduce_plan.h"

namespace armillary::kernels {
namespace {

constexpr int64_t kFewResults = 64;  // fewer rows than this do not feed all threads
constexpr int64_t kElementsPerTask = 16384;
constexpr int64_t kMostChunks = 64;
constexpr int64_t kRowLanes = 32;
constexpr int64_t kColumnBlock = 64;     // columns whose sums stay in registers
constexpr int64_t kLocalColumns = 2048;  // columns whose sums stay in the first-level cache
constexpr int64_t kRowsAtOnce = 4;

// A sequential loop over a part, perhaps over one chunk of it.
struct Span {
  int part = 0;
  int64_t extent = 1;  // bound
  Val dynamic_extent;  // when the last chunk is shorter
  Val begin;           // first value; invalid: 0
  int64_t step = 1;
};

class ReduceLowering {
 public:
  ReduceLowering(const Site& site, Lowering& lowering)
      : site_(site), lowering_(lowering), heroes_(hero_reduces(site)), plan_(plan_reduce(site, heroes_)) {
    for (const Instruction* h : heroes_) combiners_.emplace_back(*h);
    one_by_one_ = !std::ranges::all_of(combiners_, &Combiner::associates);
  }

  void run() {
    const ReducePart& lanes = plan_.parts[plan_.lane_part];
    const bool last = plan_.lane_part + 1 == static_cast<int>(plan_.parts.size());
    if (lanes.reduced)
      rows();
    else if (last && !one_by_one_ && plan_.reduced >= 2 * kRowsAtOnce &&
             plan_.reduced * lanes.factor.extent > 2 * kElementsPerTask)
      long_columns();
    else
      columns();
  }

 private:
  using Values = std::vector<Val>;  // a value a part, or an accumulator a result of all heroes

  const ReducePart& part(int p) const { return plan_.parts[p]; }
  std::vector<int> parts_where(bool reduced, int except) const {
    std::vector<int> found;
    for (int p = 0; p < static_cast<int>(plan_.parts.size()); ++p)
      if (part(p).reduced == reduced && p != except) found.push_back(p);
    return found;
  }
  int64_t extent_of(const std::vector<int>& parts) const {
    int64_t n = 1;
    for (int p : parts) n *= part(p).factor.extent;
    return n;
  }

  Index operand_index(const Values& at) const {
    std::vector<Digit> digits;
    for (size_t p = 0; p < at.size(); ++p)
      digits.push_back({part(p).factor.extent, part(p).factor.stride, at[p]});
    return Index(std::move(digits));
  }
  Index result_index(const Values& at) const {
    std::vector<Digit> digits;
    for (size_t p = 0; p < at.size(); ++p)
      if (!part(p).reduced) digits.push_back({part(p).factor.extent, part(p).result_stride, at[p]});
    return Index(std::move(digits));
  }
  // Sets the values of `parts` from a linear count through them.
  void spread(KernelBuilder& b, const std::vector<int>& parts, Val linear, Values& at) const {
    Dims extents;
    for (int p : parts) extents.push_back(part(p).factor.extent);
    const Values v = b.delinearize(linear, extents);
    for (size_t k = 0; k < parts.size(); ++k) at[parts[k]] = v[k];
  }

  // All heroes' elements at `index`, in accumulators' dtypes.
  Values elements_at(KernelWriter& w, const Index& index) const {
    Values all;
    for (size_t h = 0; h < heroes_.size(); ++h) {
      Values x;
      for (int64_t o = 0; o < combiners_[h].size(); ++o)
        x.push_back(w.elements.at(heroes_[h]->operand(o), index));
      for (Val v : combiners_[h].widen(w.b, x)) all.push_back(v);
    }
    return all;
  }
  Values combine(KernelBuilder& b, const Values& a, const Values& x) const {
    Values all;
    size_t first = 0;
    for (const Combiner& c : combiners_) {
      const size_t n = c.size();
      for (Val v : c.combine(b, std::span(a).subspan(first, n), std::span(x).subspan(first, n)))
        all.push_back(v);
      first += n;
    }
    return all;
  }
  std::vector<DType> accumulator_dtypes() const {
    std::vector<DType> all;
    for (const Combiner& c : combiners_)
      for (int64_t i = 0; i < c.size(); ++i) all.push_back(c.accumulator_dtype(i));
    return all;
  }
  std::optional<Values> identities(KernelBuilder& b) const {
    Values all;
    for (const Combiner& c : combiners_) {
      const auto identity = c.identity(b);
      if (!identity) return std::nullopt;
      all.insert(all.end(), identity->begin(), identity->end());
    }
    return all;
  }
  Values zeros(KernelBuilder& b) const {
    Values all;
    for (DType d : accumulator_dtypes()) all.push_back(b.zero(d));
    return all;
  }

  Values initial_values(KernelWriter& w) const {
    Values all;
    for (size_t h = 0; h < heroes_.size(); ++h) {
      Values x;
      for (int64_t o = 0; o < combiners_[h].size(); ++o)
        x.push_back(w.elements.at(heroes_[h]->operand(combiners_[h].size() + o), Index()));
      for (Val v : combiners_[h].widen(w.b, x)) all.push_back(v);
    }
    return all;
  }

  // Combines everything in `spans`, outermost first, starting from nothing, or one by one from the initial
  // values.
  Values fold(KernelWriter& w, const std::vector<Span>& spans, Values at) const {
    if (one_by_one_) return fold_from(w, spans, 0, at, initial_values(w), Val());
    const auto identity = identities(w.b);
    return fold_from(w, spans, 0, at, identity ? *identity : zeros(w.b),
                     identity ? Val() : w.b.constant_int(DType::kPred, 1));
  }
  // `first`: whether nothing has been accumulated yet; invalid when the accumulators always count.
  Values fold_from(KernelWriter& w, const std::vector<Span>& spans, size_t k, Values& at, const Values& start,
                   Val first) const {
    if (k == spans.size()) {
      const Values x = elements_at(w, operand_index(at));
      Values sum = combine(w.b, start, x);
      if (first.valid())
        for (size_t i = 0; i < sum.size(); ++i) sum[i] = w.b.select(first, x[i], sum[i]);
      return sum;
    }
    const Span& s = spans[k];
    const Val lane = at[s.part];
    Values result = w.b.loop(s.dynamic_extent, s.extent, start, [&](Val i, std::span<const Val> carried) {
      Val v = w.b.mul(i, w.b.index_const(s.step));
      if (s.begin.valid()) v = w.b.add(s.begin, v);
      at[s.part] = lane.valid() ? w.b.add(v, lane) : v;
      Val still_first = first;
      if (first.valid()) still_first = w.b.bit_and(first, w.b.compare(Prim::kEq, i, w.b.index_const(0)));
      return fold_from(w, spans, k + 1, at, Values(carried.begin(), carried.end()), still_first);
    });
    at[s.part] = lane;
    return result;
  }
  std::vector<Span> spans_of(const std::vector<int>& parts) const {
    std::vector<Span> spans;
    for (int p : parts) spans.push_back({.part = p, .extent = part(p).factor.extent});
    return spans;
  }

  // With the initial values combined in, everything after the reduces computed and stored.
  void store_results(KernelWriter& w, const Values& totals, const Index& at) const {
    const Values all = one_by_one_ ? totals : combine(w.b, initial_values(w), totals);
    size_t first = 0;
    for (size_t h = 0; h < heroes_.size(); ++h) {
      const Combiner& c = combiners_[h];
      w.elements.remember(heroes_[h], at, c.narrow(w.b, std::span(all).subspan(first, c.size())));
      first += c.size();
    }
    w.store_roots(at);
  }

  // Chunks of the outermost span when whole rows are too few tasks; fixed by the shape alone.
  int64_t choose_chunks(int64_t tasks, int64_t extent) const {
    if (one_by_one_ || tasks >= kFewResults) return 1;
    const int64_t by_work = plan_.kept * plan_.reduced / kElementsPerTask / tasks;
    const int64_t wanted =
        std::clamp<int64_t>(std::min({by_work, kMostChunks / tasks, extent}), 1, kMostChunks);
    const int64_t size = (extent + wanted - 1) / wanted;
    return (extent + size - 1) / size;  // none is empty
  }
  static void cut_span(KernelBuilder& b, Span& s, int64_t chunks, Val chunk) {
    if (chunks == 1) return;
    const int64_t size = (s.extent + chunks - 1) / chunks;
    const Val first = b.mul(chunk, b.index_const(size));
    if (s.extent % size != 0)
      s.dynamic_extent = b.min(b.sub(b.index_const(s.extent), first), b.index_const(size));
    s.begin = b.mul(first, b.index_const(s.step));
    s.extent = size;
  }

  // Partial results lie in scratch memory, [chunk][result].
  int scratch(KernelWriter& w, size_t accumulator, int64_t chunks, bool written) {
    const Shape shape(accumulator_dtypes()[accumulator], {chunks * plan_.kept});
    while (lowering_.scratch_bytes.size() <= accumulator) {
      const Shape s(accumulator_dtypes()[lowering_.scratch_bytes.size()], shape.dims);
      lowering_.scratch_bytes.push_back(s.byte_size());
    }
    return w.elements.buffer({BufferRef::kScratch, static_cast<int64_t>(accumulator)}, shape, written);
  }
  void store_partial(KernelWriter& w, const Values& totals, const Index& at, Val chunk, int64_t chunks) {
    const Val linear = w.b.add(w.b.mul(chunk, w.b.index_const(plan_.kept)), at.linear(w.b));
    for (size_t i = 0; i < totals.size(); ++i) w.b.store_at(scratch(w, i, chunks, true), linear, totals[i]);
  }
  void combine_partials(int64_t chunks) {
    KernelWriter w(site_, lowering_);
    std::vector<Factor> factors;
    for (int p : parts_where(false, -1)) factors.push_back({part(p).factor.extent, part(p).result_stride});
    if (factors.empty()) factors.push_back({1, 1});
    loop_nest(w.b, factors, static_cast<double>(chunks), [&](const Index& at) {
      auto load = [&](Val chunk) {
        Values x;
        const Val linear = w.b.add(w.b.mul(chunk, w.b.index_const(plan_.kept)), at.linear(w.b));
        for (size_t i = 0; i < accumulator_dtypes().size(); ++i)
          x.push_back(w.b.load_at(scratch(w, i, chunks, false), linear));
        return x;
      };
      const Values totals =
          w.b.loop(chunks - 1, load(w.b.index_const(0)), [&](Val i, std::span<const Val> sum) {
            return combine(w.b, Values(sum.begin(), sum.end()), load(w.b.add(i, w.b.index_const(1))));
          });
      Index whole = at;
      if (plan_.kept == 1) whole = Index();
      store_results(w, totals, whole);
    });
    w.finish();
  }

  std::vector<int> add_locals(KernelBuilder& b, int64_t count) const {
    std::vector<int> locals;
    for (DType d : accumulator_dtypes()) locals.push_back(b.add_local(d, count));
    return locals;
  }
  static Values load_locals(KernelBuilder& b, const std::vector<int>& locals, Val i) {
    Values x;
    for (int l : locals) x.push_back(b.load_at(l, i));
    return x;
  }
  static void store_locals(KernelBuilder& b, const std::vector<int>& locals, Val i, const Values& x) {
    for (size_t k = 0; k < locals.size(); ++k) b.store_at(locals[k], i, x[k]);
  }

  void rows();
  void columns();
  void long_columns();
  void fold_lanes(KernelWriter& w, const std::vector<int>& locals, int64_t lanes);

  const Site& site_;
  Lowering& lowering_;
  std::vector<const Instruction*> heroes_;
  ReducePlan plan_;
  std::vector<Combiner> combiners_;
  bool one_by_one_;
};

// Halves the lanes until one is left, in a fixed order.
void ReduceLowering::fold_lanes(KernelWriter& w, const std::vector<int>& locals, int64_t lanes) {
  while (lanes > 1) {
    const int64_t half = (lanes + 1) / 2;
    w.b.lane_loop(lanes - half, [&](Val l) {
      const Values other = load_locals(w.b, locals, w.b.add(l, w.b.index_const(half)));
      store_locals(w.b, locals, l, combine(w.b, load_locals(w.b, locals, l), other));
    });
    lanes = half;
  }
}

// Each lane accumulates every `lanes`-th element of the innermost part; what is left over goes to the first
// lanes. A computation that depends on the order has one lane, and sees the elements one after the other.
void ReduceLowering::rows() {
  KernelWriter w(site_, lowering_);
  const int lane_part = plan_.lane_part;
  const bool in_order =
      std::any_of(combiners_.begin(), combiners_.end(), [](const Combiner& c) { return !c.commutes(); });
  const int64_t extent = part(lane_part).factor.extent, lanes = in_order ? 1 : std::min(extent, kRowLanes),
                rest = extent % lanes;
  const std::vector<int> kept = parts_where(false, -1), others = parts_where(true, lane_part);
  std::vector<Span> spans = spans_of(others);
  std::vector<Span> rest_spans = spans;
  spans.push_back({.part = lane_part, .extent = extent / lanes, .step = lanes});
  const int64_t chunks = choose_chunks(plan_.kept, spans[0].extent);
  w.b.kernel().extent = plan_.kept * chunks;

  Values at(plan_.parts.size());
  const Val outer = w.b.outer_index();
  const Val chunk = w.b.floor_div(outer, plan_.kept);
  spread(w.b, kept, w.b.mod(outer, plan_.kept), at);
  cut_span(w.b, spans[0], chunks, chunk);
  if (!rest_spans.empty()) rest_spans[0] = spans[0];

  const std::vector<int> locals = add_locals(w.b, lanes);
  w.b.lane_loop(lanes, [&](Val l) {
    Values here = at;
    here[lane_part] = l;
    store_locals(w.b, locals, l, fold(w, spans, here));
  });
  const auto add_rest = [&] {
    w.b.lane_loop(rest, [&](Val l) {
      Values here = at;
      here[lane_part] = w.b.add(l, w.b.index_const(extent - rest));
      store_locals(w.b, locals, l, fold_from(w, rest_spans, 0, here, load_locals(w.b, locals, l), Val()));
    });
  };
  if (rest > 0 && (!rest_spans.empty() || chunks == 1))
    add_rest();
  else if (rest > 0)
    w.b.if_then(w.b.compare(Prim::kEq, chunk, w.b.index_const(chunks - 1)), add_rest);
  fold_lanes(w, locals, lanes);
  const Values totals = load_locals(w.b, locals, w.b.index_const(0));
  if (chunks == 1)
    store_results(w, totals, result_index(at));
  else
    store_partial(w, totals, result_index(at), chunk, chunks);
  w.finish();
  if (chunks > 1) combine_partials(chunks);
}

// A lane a result; sums stay in registers.
void ReduceLowering::columns() {
  KernelWriter w(site_, lowering_);
  const int lane_part = plan_.lane_part;
  const int64_t extent = part(lane_part).factor.extent, block = std::min(extent, kColumnBlock),
                blocks = (extent + block - 1) / block;
  const std::vector<int> kept = parts_where(false, lane_part);
  w.b.kernel().extent = extent_of(kept) * blocks;
  Values at(plan_.parts.size());
  const Val outer = w.b.outer_index();
  spread(w.b, kept, w.b.floor_div(outer, blocks), at);
  const Val first = w.b.mul(w.b.mod(outer, blocks), w.b.index_const(block));
  const auto body = [&](Val l) {
    Values here = at;
    here[lane_part] = w.b.add(first, l);
    store_results(w, fold(w, spans_of(parts_where(true, -1)), here), result_index(here));
  };
  if (extent % block == 0)
    w.b.lane_loop(block, body);
  else
    w.b.lane_loop(w.b.min(w.b.sub(w.b.index_const(extent), first), w.b.index_const(block)), block, body);
  w.finish();
}

// Rows are read one after the other, as they lie in memory; the sums of a block of columns stay in the cache.
void ReduceLowering::long_columns() {
  KernelWriter w(site_, lowering_);
  const int lane_part = plan_.lane_part;
  const int64_t extent = part(lane_part).factor.extent, block = std::min(extent, kLocalColumns),
                blocks = (extent + block - 1) / block;
  const std::vector<int> kept = parts_where(false, lane_part), reduced = parts_where(true, -1);
  const int64_t tasks = extent_of(kept) * blocks;
  std::vector<Span> spans = spans_of(reduced);
  const int64_t chunks = choose_chunks(tasks, spans[0].extent);
  w.b.kernel().extent = tasks * chunks;

  Values at(plan_.parts.size());
  const Val outer = w.b.outer_index();
  const Val chunk = w.b.floor_div(outer, tasks), task = w.b.mod(outer, tasks);
  spread(w.b, kept, w.b.floor_div(task, blocks), at);
  const Val first = w.b.mul(w.b.mod(task, blocks), w.b.index_const(block));
  cut_span(w.b, spans[0], chunks, chunk);
  const auto over_columns = [&](const std::function<void(Val, Values)>& body) {
    const auto with_column = [&](Val l) {
      Values here = at;
      here[lane_part] = w.b.add(first, l);
      body(l, here);
    };
    if (extent % block == 0)
      w.b.lane_loop(block, with_column);
    else
      w.b.lane_loop(w.b.min(w.b.sub(w.b.index_const(extent), first), w.b.index_const(block)), block,
                    with_column);
  };

  const std::vector<int> locals = add_locals(w.b, block);
  const auto identity = identities(w.b);
  over_columns([&](Val l, Values) { store_locals(w.b, locals, l, identity ? *identity : zeros(w.b)); });
  // The innermost reduced part moves some rows at a time.
  const Span inner = spans.back();
  const bool grouped = !inner.dynamic_extent.valid() && inner.extent % kRowsAtOnce == 0;
  const int64_t group = grouped ? kRowsAtOnce : 1;
  std::function<void(size_t, Val)> row_loops = [&](size_t k, Val started) {
    const Span& s = spans[k];
    const bool innermost = k + 1 == spans.size();
    const Val count = s.dynamic_extent;
    w.b.loop(count, innermost ? s.extent / group : s.extent, {}, [&](Val i, auto) {
      Val row = w.b.mul(i, w.b.index_const(innermost ? group : 1));
      if (s.begin.valid()) row = w.b.add(s.begin, row);
      at[s.part] = row;
      const Val here_first =
          identity ? Val() : w.b.bit_and(started, w.b.compare(Prim::kEq, i, w.b.index_const(0)));
      if (!innermost) {
        row_loops(k + 1, here_first);
        return Values();
      }
      over_columns([&](Val l, Values here) {
        Values sum = load_locals(w.b, locals, l);
        for (int64_t r = 0; r < group; ++r) {
          here[s.part] = w.b.add(row, w.b.index_const(r));
          const Values x = elements_at(w, operand_index(here));
          Values next = combine(w.b, sum, x);
          if (here_first.valid() && r == 0)
            for (size_t a = 0; a < next.size(); ++a) next[a] = w.b.select(here_first, x[a], next[a]);
          sum = next;
        }
        store_locals(w.b, locals, l, sum);
      });
      return Values();
    });
  };
  row_loops(0, w.b.constant_int(DType::kPred, 1));
  over_columns([&](Val l, Values here) {
    const Values totals = load_locals(w.b, locals, l);
    if (chunks == 1)
      store_results(w, totals, result_index(here));
    else
      store_partial(w, totals, result_index(here), chunk, chunks);
  });
  w.finish();
  if (chunks > 1) combine_partials(chunks);
}

}  // namespace

void lower_reduce(const Site& site, Lowering& lowering) { ReduceLowering(site, lowering).run(); }

}  // namespace armillary::kernels
