// One device at work: its core runs commands one after the other; copies, collectives and host transfers run
// beside them.
//
// Collectives come first at the memory, at their own pace; then the core; a copy beside it gets what is left.
// A collective takes its links for itself; one that needs a link that is taken waits for it.
#pragma once

#include <deque>
#include <functional>
#include <map>

#include "tpu_sim/pod/totals.h"

namespace armillary::sim {

class Machine {
 public:
  // Where spans go, if they are wanted.
  using Record = std::function<void(const Span&)>;

  Machine(const Pod& pod, const StepList& list, Record record);

  // Runs a command on the core, starts one beside it, or waits. Not for loops and conditionals.
  void run(const Step& step);
  // As `run` for a collective's start, but ended by the caller (who knows of other devices).
  void start_collective(const Step& step, Tick start, Tick finish);
  // The earliest a collective could take its links.
  Tick collective_ready(const Step& step) const;
  // What a trip round a loop, or choosing a branch, costs.
  void turn(const Step& step);

  Tick now() const { return now_; }
  Totals& totals() { return totals_; }

  // All that the future depends on, relative to now. Equal states have equal futures.
  using State = std::vector<int64_t>;
  State state() const;
  // Jumps ahead; everything under way moves along.
  void skip(Tick time);

  // Throws a user error if something has been started that nobody waited for.
  void finish() const;

 private:
  enum class Kind : int8_t { kCopy, kCollective, kHost };
  struct Pending {
    Kind kind;
    int label;
    Tick start;
    Tick remaining = 0;    // copies: ticks of memory
    Tick finish = 0;       // known when nothing remains
    double hbm_share = 0;  // collectives: of the memory, from start to finish
    CollectiveKind collective = CollectiveKind::kAllReduce;
  };

  void on_core(const Step& step, Tick duration, Tick hbm, std::string_view bound);
  // Ticks of memory that collectives take in the time from now.
  Tick taken(Tick duration) const;
  // How long the core takes for what would take `duration`, if it needs so much of the memory.
  Tick stretched(Tick duration, Tick hbm) const;
  void pass(Tick duration, Tick hbm);
  void add_pending(const Step& step, int handle, Pending pending);
  void start_copy(const Step& step, int handle);
  void start_host_transfer(const Step& step, int handle);
  void wait(const Step& step, int handle);
  void wait_until(const Step& step, Tick time);
  void count(const Step& step, Tick background);
  void record(Track track, int label, Tick start, Tick end, std::string_view bound);

  const StepList& list_;
  const Device device_;
  Record record_;
  Totals totals_;
  Tick now_ = 0;
  std::map<int, Pending> pending_;  // by handle
  std::deque<int> copies_;          // that have not been served, first come, first served
  std::array<Tick, kNumResources> links_free_ = {};
  Tick host_free_ = 0;
};

}  // namespace armillary::sim
