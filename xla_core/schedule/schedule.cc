#include "xla_core/schedule/schedule.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

namespace armillary {
namespace {

// What uses the result uses the operands' memory; a loop's state takes over the memory of its initial value.
bool is_alias(const Instruction& i) { return i.has(kRenames) || i.is(Op::async_done) || i.is(Op::while_); }

// What scheduling needs to know of one computation: who needs whom, and how many bytes each instruction
// brings to life.
struct Graph {
  struct Node {
    Instruction* instruction = nullptr;
    std::vector<int> before, after;  // dependencies and dependents
    std::vector<int> reads;          // nodes whose bytes this one needs, through aliases
    int readers = 0;
    int64_t bytes = 0;      // brought to life
    int64_t inner = 0;      // needed only while it runs: its callees' peak
    bool lives_on = false;  // read by the root
  };
  std::vector<Node> nodes;

  explicit Graph(const Computation& c) {
    std::unordered_map<const Instruction*, int> number;
    std::vector<std::vector<int>> memory;  // per node: the nodes whose bytes it is made of
    std::vector<int> last_reader;          // per node: the node that was given its bytes to read last
    for (Instruction* i : c.instructions()) {
      const int n = static_cast<int>(nodes.size());
      number[i] = n;
      Node& node = nodes.emplace_back();
      node.instruction = i;
      last_reader.push_back(-1);
      for (Instruction* operand : i->operands()) add_dependency(number.at(operand), n);
      for (Instruction* earlier : i->control_predecessors()) add_dependency(number.at(earlier), n);
      std::vector<int>& own = memory.emplace_back();
      for (Instruction* operand : i->operands())
        for (int m : memory[number.at(operand)])
          if (std::exchange(last_reader[m], n) != n) nodes[n].reads.push_back(m);
      const bool outside = i->is(Op::parameter) || i->is(Op::constant);
      if (is_alias(*i)) {
        own = nodes[n].reads;
        if (i->is(Op::get_tuple_element) && own.size() > 1) own = element_memory(*i, number, memory);
      } else if (!outside) {
        own = {n};
        nodes[n].bytes = (i->is(Op::async_start) ? i->shape().tuple[1] : i->shape()).byte_size();
      }
      if (i->has(kCallsControl))
        for (const Computation* callee : i->callees())
          nodes[n].inner = std::max(nodes[n].inner, peak_bytes(*callee));
    }
    for (Node& node : nodes)
      for (int m : node.reads) ++nodes[m].readers;
    for (int m : memory[number.at(c.root())]) nodes[m].lives_on = true;
  }

 private:
  // The memory of one element of a tuple that was built here; all of it when that is not known.
  static std::vector<int> element_memory(const Instruction& i,
                                         const std::unordered_map<const Instruction*, int>& number,
                                         const std::vector<std::vector<int>>& memory) {
    const Instruction* tuple = i.operand(0);
    if (!tuple->is(Op::tuple)) return memory[number.at(tuple)];
    return memory[number.at(tuple->operand(i.attrs().integer(Attr::index)))];
  }
  void add_dependency(int from, int to) {  // every `from` of a `to` comes before the next `to`
    std::vector<int>& after = nodes[from].after;
    if (!after.empty() && after.back() == to) return;
    after.push_back(to);
    nodes[to].before.push_back(from);
  }
};

int64_t peak_of(const Graph& g, const std::vector<int>& order) {
  std::vector<int> readers(g.nodes.size());
  for (size_t n = 0; n < g.nodes.size(); ++n) readers[n] = g.nodes[n].readers;
  int64_t live = 0, peak = 0;
  for (int n : order) {
    const Graph::Node& node = g.nodes[n];
    live += node.bytes;
    peak = std::max(peak, live + node.inner);
    for (int m : node.reads)
      if (--readers[m] == 0 && !g.nodes[m].lives_on) live -= g.nodes[m].bytes;
    if (node.readers == 0 && !node.lives_on) live -= node.bytes;
  }
  return peak;
}

// Depth first from the root; of several operands, the one whose subtree needs more beyond what it leaves goes
// first (Sethi and Ullman's rule, which is optimal on trees).
std::vector<int> depth_first(const Graph& g) {
  const int count = static_cast<int>(g.nodes.size());
  std::vector<int64_t> need(count);
  auto excess = [&](int n) { return need[n] - g.nodes[n].bytes; };
  std::vector<std::vector<int>> before(count);
  for (int n = 0; n < count; ++n) {
    before[n] = g.nodes[n].before;
    std::stable_sort(before[n].begin(), before[n].end(), [&](int a, int b) { return excess(a) > excess(b); });
    int64_t held = 0, most = 0;
    for (int m : before[n]) {
      most = std::max(most, held + need[m]);
      held += g.nodes[m].bytes;
    }
    need[n] = std::max(most, held + g.nodes[n].bytes + g.nodes[n].inner);
  }
  std::vector<int> order;
  std::vector<char> seen(count, 0);
  std::vector<std::pair<int, size_t>> stack;
  for (int from = count - 1; from >= 0;
       --from) {  // later instructions first: the root's tree, then what only has effects
    if (!g.nodes[from].after.empty() || seen[from]) continue;
    seen[from] = 1;
    stack.emplace_back(from, 0);
    while (!stack.empty()) {
      auto& [n, next] = stack.back();
      if (next < before[n].size()) {
        const int m = before[n][next++];
        if (!seen[m]) seen[m] = 1, stack.emplace_back(m, 0);
      } else {
        order.push_back(n);
        stack.pop_back();
      }
    }
  }
  return order;
}

// List scheduling: of the ready instructions, the one that frees most beyond what it brings to life; ties in
// the old order.
std::vector<int> greedy(const Graph& g) {
  const int count = static_cast<int>(g.nodes.size());
  std::vector<int> waiting(count), readers(count);
  std::vector<std::vector<int>> readers_of(count);
  std::vector<int64_t> gain(count);
  for (int n = 0; n < count; ++n) {
    waiting[n] = static_cast<int>(g.nodes[n].before.size());
    readers[n] = g.nodes[n].readers;
    gain[n] = -g.nodes[n].bytes;
    for (int m : g.nodes[n].reads) readers_of[m].push_back(n);
  }
  auto frees = [&](int m) { return readers[m] == 1 && !g.nodes[m].lives_on; };
  std::set<std::pair<int64_t, int>> ready;
  std::vector<char> done(count, 0);
  auto promote = [&](int m) {  // m has one reader left: that one now frees it
    for (int n : readers_of[m]) {
      if (done[n]) continue;
      const bool was_ready = ready.erase({-gain[n], n}) > 0;
      gain[n] += g.nodes[m].bytes;
      if (was_ready) ready.emplace(-gain[n], n);
      return;
    }
  };
  for (int m = 0; m < count; ++m)
    if (frees(m)) promote(m);
  for (int n = 0; n < count; ++n)
    if (waiting[n] == 0) ready.emplace(-gain[n], n);
  std::vector<int> order;
  while (!ready.empty()) {
    const int n = ready.begin()->second;
    ready.erase(ready.begin());
    done[n] = 1;
    order.push_back(n);
    for (int later : g.nodes[n].after)
      if (--waiting[later] == 0) ready.emplace(-gain[later], later);
    for (int m : g.nodes[n].reads) {
      --readers[m];
      if (frees(m)) promote(m);
    }
  }
  return order;
}

bool order_computation(Computation* c) {
  const Graph g(*c);
  std::vector<int> best(g.nodes.size());
  for (size_t n = 0; n < best.size(); ++n) best[n] = static_cast<int>(n);
  int64_t best_peak = peak_of(g, best);
  bool changed = false;
  for (std::vector<int> order : {depth_first(g), greedy(g)}) {
    const int64_t peak = peak_of(g, order);
    if (peak < best_peak) {
      best = std::move(order);
      best_peak = peak;
      changed = true;
    }
  }
  if (!changed) return false;
  std::vector<Instruction*> instructions;
  for (int n : best) instructions.push_back(g.nodes[n].instruction);
  c->reorder(instructions);
  return true;
}

}  // namespace

int64_t peak_bytes(const Computation& c) {
  const Graph g(c);
  std::vector<int> order(g.nodes.size());
  for (size_t n = 0; n < order.size(); ++n) order[n] = static_cast<int>(n);
  return peak_of(g, order);
}

bool minimise_memory(Module& m) {
  bool changed = !m.is_scheduled;
  for (Computation* c : m.control_computations()) changed |= order_computation(c);
  m.is_scheduled = true;
  return changed;
}

}  // namespace armillary
