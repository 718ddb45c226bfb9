// Which part of a pod some devices are.
#include <algorithm>

#include "tpu_sim/pod/groups.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

// From the first to the last place along one dimension.
struct Range {
  int first = 0, last = -1;
  void add(int place) {
    first = last < first ? place : std::min(first, place);
    last = std::max(last, place);
  }
  int count() const { return last - first + 1; }
};

}  // namespace

Part part_of(const Pod& pod, const std::vector<int>& devices) {
  Range slices, cores;
  std::vector<Range> axes(pod.torus.axes.size());
  for (int device : devices) {
    if (device < 0 || device >= pod.devices())
      throw user_error("there is no device {}: the pod has {}", device, pod.devices());
    const Place place = place_of(device, pod);
    slices.add(place.slice), cores.add(place.core);
    for (size_t a = 0; a < axes.size(); ++a)
      axes[a].add(pod.torus.coordinate(place.chip, static_cast<int>(a)));
  }
  Part part{{pod.chip, {}, slices.count(), cores.count()}, {}};
  for (size_t a = 0; a < axes.size(); ++a) {
    const Axis& whole = pod.torus.axes[a];
    part.pod.torus.axes.push_back({axes[a].count(), whole.wraps && axes[a].count() == whole.extent});
  }
  for (int device : devices) {
    const Place place = place_of(device, pod);
    int number = place.slice - slices.first;
    for (size_t a = 0; a < axes.size(); ++a)
      number =
          number * axes[a].count() + pod.torus.coordinate(place.chip, static_cast<int>(a)) - axes[a].first;
    part.places.push_back(number * cores.count() + place.core - cores.first);
  }
  return part;
}

}  // namespace armillary::sim
