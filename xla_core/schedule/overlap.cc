#include "xla_core/schedule/overlap.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "xla_core/schedule/schedule.h"

namespace armillary {
namespace {

struct Node {
  Instruction* instruction = nullptr;
  std::vector<int> before, after;
  double seconds = 0;
};

struct Graph {
  std::vector<Node> nodes;  // in the order of the computation

  Graph(const Computation& c, const OverlapOptions& options) {
    std::unordered_map<const Instruction*, int> number;
    for (Instruction* i : c.instructions()) {
      const int n = static_cast<int>(nodes.size());
      number[i] = n;
      nodes.push_back({i, {}, {}, options.seconds(*i)});
      for (Instruction* o : i->operands()) depend(number.at(o), n);
      for (Instruction* o : i->control_predecessors()) depend(number.at(o), n);
    }
  }

 private:
  void depend(int from, int to) {
    std::vector<int>& before = nodes[to].before;
    if (std::find(before.begin(), before.end(), from) != before.end()) return;
    before.push_back(from);
    nodes[from].after.push_back(to);
  }
};

// Of the time before: less is no reason to leave an order that keeps memory small.
constexpr double kWorthwhile = 0.999;

bool starts(const Node& n) { return n.instruction->has(kAsyncStart); }
bool ends(const Node& n) { return n.instruction->has(kAsyncDone); }

// Seconds from the start of the computation to the end of each node, were there cores and links enough.
std::vector<double> longest_paths(const Graph& g) {
  std::vector<double> path(g.nodes.size());
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    for (int m : g.nodes[n].before) path[n] = std::max(path[n], path[m]);
    path[n] += g.nodes[n].seconds;
  }
  return path;
}

// List scheduling from the end backwards. Of what is ready, the one of highest rank stands last.
class Backwards {
 public:
  Backwards(const Graph& graph, std::vector<double> ranks, int64_t in_flight, double stretch)
      : nodes_(graph.nodes),
        ranks_(std::move(ranks)),
        most_in_flight_(in_flight),
        stretch_(stretch),
        waiting_(nodes_.size()) {
    for (int n = 0; n < size(); ++n) {
      waiting_[n] = static_cast<int>(nodes_[n].after.size());
      if (waiting_[n] == 0) add_ready(n);
    }
  }

  std::vector<Instruction*> run() {
    while (static_cast<int>(order_.size()) < size()) place(next());
    std::vector<Instruction*> forwards;
    for (auto n = order_.rbegin(); n != order_.rend(); ++n) forwards.push_back(nodes_[*n].instruction);
    return forwards;
  }

 private:
  int size() const { return static_cast<int>(nodes_.size()); }

  void add_ready(int n) {
    if (starts(nodes_[n])) {
      ready_starts_.insert({start_at_[n], n});
    } else {
      (ends(nodes_[n]) ? ready_dones_ : ready_).insert({ranks_[n], n});
    }
  }

  int next() {
    if (!ready_starts_.empty() && ready_starts_.begin()->first <= now_) return ready_starts_.begin()->second;
    if (!ready_dones_.empty() && in_flight_ < most_in_flight_) return ready_dones_.rbegin()->second;
    if (!ready_.empty()) return ready_.rbegin()->second;
    // Nothing is left to put between.
    return ready_starts_.empty() ? ready_dones_.rbegin()->second : ready_starts_.begin()->second;
  }

  void place(int n) {
    ready_.erase({ranks_[n], n});
    ready_dones_.erase({ranks_[n], n});
    ready_starts_.erase({start_at_[n], n});
    order_.push_back(n);
    const Node& node = nodes_[n];
    if (ends(node)) {
      ++in_flight_;
      link_free_ = std::max(link_free_, now_) + stretch_ * nodes_[node.before[0]].seconds;
      start_at_[node.before[0]] = link_free_;
    } else if (starts(node)) {
      --in_flight_;
      now_ = std::max(now_, start_at_[n]);
    } else {
      now_ += node.seconds;
    }
    for (int m : node.before)
      if (--waiting_[m] == 0) add_ready(m);
  }

  const std::vector<Node>& nodes_;
  const std::vector<double> ranks_;
  const int64_t most_in_flight_;
  const double stretch_;  // of what collectives take: less lets go of overlap
  std::vector<int> waiting_, order_;
  std::set<std::pair<double, int>> ready_, ready_dones_, ready_starts_;
  std::unordered_map<int, double> start_at_;
  double now_ = 0, link_free_ = 0;
  int64_t in_flight_ = 0;
};

double lower_bound(const Graph& g) {
  double core = 0, links = 0, longest = 0;
  for (const Node& node : g.nodes) (starts(node) ? links : core) += node.seconds;
  for (double path : longest_paths(g)) longest = std::max(longest, path);
  return std::max({core, links, longest});
}

std::vector<double> old_order(const Graph& g) {
  std::vector<double> ranks;
  for (size_t n = 0; n < g.nodes.size(); ++n) ranks.push_back(static_cast<double>(n));
  return ranks;
}

}  // namespace

double seconds_of(const std::vector<Instruction*>& order, const OverlapOptions& options) {
  double now = 0, link_free = 0;
  std::unordered_map<const Instruction*, double> finish;
  for (const Instruction* i : order) {
    if (i->has(kAsyncStart)) {
      link_free = std::max(link_free, now) + options.seconds(*i);
      finish[i] = link_free;
    } else if (i->has(kAsyncDone)) {
      now = std::max(now, finish[i->operand(0)]);
    } else {
      now += options.seconds(*i);
    }
  }
  return now;
}

OverlapReport hide_latency(Computation& c, const OverlapOptions& options) {
  const Graph graph(c, options);
  std::vector<Instruction*> best = c.snapshot();
  OverlapReport report;
  report.computation = c.name();
  report.collectives = std::count_if(graph.nodes.begin(), graph.nodes.end(), starts);
  report.lower_bound = lower_bound(graph);
  report.before = report.after = seconds_of(best, options);
  report.peak_before = report.peak_after = peak_bytes(c);
  const int64_t limit =
      options.memory_limit > 0 ? std::max(options.memory_limit, report.peak_before) : INT64_MAX;
  // The old order keeps memory small; the longest path first hides more.
  for (const std::vector<double>& ranks : {old_order(graph), longest_paths(graph)})
    for (double stretch : {1.0, 0.5, 0.25}) {
      std::vector<Instruction*> order = Backwards(graph, ranks, options.in_flight, stretch).run();
      const double seconds = seconds_of(order, options);
      if (seconds >= kWorthwhile * report.after) continue;
      c.reorder(order);
      const int64_t peak = peak_bytes(c);
      if (peak > limit) continue;
      best = std::move(order);
      report.after = seconds;
      report.peak_after = peak;
    }
  c.reorder(best);
  return report;
}

std::vector<OverlapReport> overlap_collectives(Module& m, const OverlapOptions& options) {
  std::vector<OverlapReport> reports;
  if (!split_collectives(m)) return reports;
  for (Computation* c : m.control_computations()) {
    const auto& all = c->instructions();
    if (std::any_of(all.begin(), all.end(), [](const Instruction* i) { return i->has(kAsyncStart); }))
      reports.push_back(hide_latency(*c, options));
  }
  return reports;
}

}  // namespace armillary
