// The links of a torus as servers: each carries one message at a time, one way.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tpu_sim/ici/topology.h"
#include "tpu_sim/spec/tick.h"

namespace armillary::sim {

struct LinkSpeed {
  double bytes_per_tick = 1;
  Tick hop = 0;  // from the last byte's leaving until the next chip can send it on

  Tick transfer(int64_t bytes) const {
    return static_cast<Tick>(std::ceil(static_cast<double>(bytes) / bytes_per_tick));
  }
};

// A message that walks along one axis; how much of it goes over each hop is known when it sets out.
struct Push {
  int chip = 0;
  int axis = 0;
  int direction = 1;  // +1 or -1
  int64_t bytes = 0;
};

// Nobody owns a clock: ready() is pure, issue() books the link and returns when the next chip has the
// message.
class Links {
 public:
  Links(const Topology& torus, LinkSpeed speed)
      : axes_(static_cast<int>(torus.axes.size())),
        speed_(speed),
        free_(torus.chips() * axes_ * 2, 0),
        busy_(free_) {}

  Tick ready(const Push& p, Tick now) const { return std::max(now, free_[index(p)]); }

  Tick issue(const Push& p, Tick now) {
    const Tick taken = speed_.transfer(p.bytes);
    free_[index(p)] = ready(p, now) + taken;
    busy_[index(p)] += taken;
    return free_[index(p)] + speed_.hop;
  }

  // Ticks in which each link carried something: chip, axis, direction.
  const std::vector<Tick>& busy() const { return busy_; }

 private:
  size_t index(const Push& p) const {
    return (static_cast<size_t>(p.chip) * axes_ + p.axis) * 2 + (p.direction > 0);
  }

  int axes_;
  LinkSpeed speed_;
  std::vector<Tick> free_, busy_;
};

}  // namespace armillary::sim
