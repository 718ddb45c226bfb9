// Closed forms of the collectives, for an otherwise idle torus; collective_test.cc holds them against the
// events.
#include <algorithm>

#include "tpu_sim/ici/plan.h"

namespace armillary::sim {
namespace {

class AxisTime {
 public:
  AxisTime(const Stage& stage, const Axis& axis, LinkSpeed speed) : s_(stage), axis_(axis), speed_(speed) {}

  Tick operator()() const {
    if (s_.bytes == 0 || axis_.extent == 1) return 0;
    switch (s_.kind) {
      case CollectiveKind::kAllToAll:
        return axis_.wraps ? deal_on_ring() : deal_on_line();
      case CollectiveKind::kCollectivePermute:
        return shift();
      default:
        return pass_on();
    }
  }

 private:
  Tick hop(int64_t bytes) const { return speed_.transfer(bytes) + speed_.hop; }
  int64_t larger_half() const { return s_.bytes - s_.bytes / 2; }
  bool split() const { return axis_.extent % 2 == 0; }

  // All-gather, and reduce-scatter as its mirror: a ring passes (n-1)/2 pieces each way, a line n-1.
  Tick pass_on() const {
    if (!axis_.wraps) return (axis_.extent - 1) * hop(s_.bytes);
    return (axis_.extent - 1) / 2 * hop(s_.bytes) + (split() ? hop(larger_half()) : 0);
  }

  // The bundle loses a block with every hop.
  Tick deal_on_ring() const {
    const int64_t half = split() ? larger_half() : 0;
    Tick time = half ? hop(half) : 0;
    for (int64_t blocks = (axis_.extent - 1) / 2; blocks > 0; --blocks) time += hop(blocks * s_.bytes + half);
    return time;
  }

  // Link i carries the bundles of chips i, i-1, ..., 0, each of n-1-i blocks. The last to arrive is that of
  // chip 0; it queues behind the others at one link, whichever makes it latest, and runs freely from there.
  Tick deal_on_line() const {
    const int links = axis_.extent - 1;
    Tick latest = 0, after = 0;
    for (int i = links - 1; i >= 0; --i) {
      const Tick bundle = speed_.transfer((links - i) * s_.bytes);
      latest = std::max(latest, (i + 1) * bundle + speed_.hop + after);
      after += bundle + speed_.hop;
    }
    return latest;
  }

  Tick shift() const {
    const int forward = (s_.shift % axis_.extent + axis_.extent) % axis_.extent,
              back = axis_.extent - forward;
    if (forward == 0) return 0;
    return (axis_.wraps ? std::min(forward, back) : std::max(forward, back)) * hop(s_.bytes);
  }

  const Stage& s_;
  const Axis& axis_;
  LinkSpeed speed_;
};

}  // namespace

Tick closed_form(const Collective& collective, const Topology& torus, LinkSpeed speed) {
  Tick total = 0;
  for (const Phase& phase : make_plan(collective, torus)) {
    Tick slowest = 0;
    for (const Stage& stage : phase)
      slowest = std::max(slowest, AxisTime(stage, torus.axes[stage.axis], speed)());
    total += slowest;
  }
  return total;
}

}  // namespace armillary::sim
