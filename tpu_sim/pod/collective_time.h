// How long a collective takes on a pod: over the links of the torus, between the cores of a chip, between
// slices.
#pragma once

#include <string>

#include "tpu_sim/ici/collective.h"
#include "tpu_sim/pod.h"
#include "tpu_sim/pod/groups.h"
#include "tpu_sim/spec/tick.h"

namespace armillary::sim {

// What a collective keeps busy: a bit for each axis of the torus, then these.
inline constexpr unsigned kCoreLink = 1u << 3, kDcn = 1u << 4;
inline constexpr int kNumResources = 5;

struct CollectiveTime {
  Tick launch = 0;         // before any link is taken
  Tick transfer = 0;       // in which the links are taken
  unsigned resources = 0;  // which ones
  Tick ici = 0, dcn = 0;   // of the transfer, so long each of these networks carries something
  Tick hbm = 0;            // of the transfer, so long the memory of a device is busy with it
  std::string note;        // where the form is conservative
};

// Groups that are boxes along axes of the torus: closed forms. Pairs: every message on every link. Other
// groups: rings in the order of their members, every message of a step on every link. Throws a user error on
// what cannot be.
CollectiveTime collective_time(const CollectiveStart& collective, const Pod& pod);

// The same with every message on every link, for boxes too.
CollectiveTime simulate_collective(const CollectiveStart& collective, const Pod& pod);

// A collective over boxes, with closed forms or every message. A collective-permute shifts along the one axis
// that the box has.
CollectiveTime box_time(const Collective& collective, const Box& box, const Pod& pod, bool every_message);

}  // namespace armillary::sim
