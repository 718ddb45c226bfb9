// Messages between any chips of a torus, axis by axis, the shorter way round each.
#pragma once

#include <span>

#include "tpu_sim/ici/links.h"

namespace armillary::sim {

struct Message {
  int from = 0, to = 0;  // chips
  int64_t bytes = 0;
};

// All set out at once; until the last has arrived. Links serve first come, first served.
Tick simulate_messages(std::span<const Message> messages, const Topology& torus, LinkSpeed speed);

}  // namespace armillary::sim
