// Replica groups as parts of the pod: which axes of the torus a group spans, and how.
#pragma once

#include <optional>
#include <vector>

#include "tpu_sim/pod.h"

namespace armillary::sim {

// Where a device is.
struct Place {
  int slice = 0, chip = 0, core = 0;
};
Place place_of(int device, const Pod& pod);

// A group's extent along one dimension of the pod: `count` places, `stride` apart.
struct Reach {
  int count = 1;
  int stride = 1;
};

// Groups that are boxes, all alike: every combination of some places along each dimension.
struct Box {
  Reach slices;
  std::vector<Reach> axes;  // of the torus
  Reach cores;

  int chips() const;
  int devices() const { return slices.count * chips() * cores.count; }
};

// Nothing if the groups are no boxes, or not all alike.
std::optional<Box> box_of(const DeviceGroups& groups, const Pod& pod);
Box whole_pod(const Pod& pod);

// Throws a user error unless every device of the pod is in exactly one group.
void check_groups(const DeviceGroups& groups, const Pod& pod);
// Throws a user error on devices that are not there, or that send or receive twice.
void check_pairs(const DevicePairs& pairs, const Pod& pod);

}  // namespace armillary::sim
