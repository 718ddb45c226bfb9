#include "tpu_sim/pod/groups.h"

#include <algorithm>

#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

void check_device(int device, const Pod& pod) {
  if (device < 0 || device >= pod.devices()) {
    throw user_error("a collective names device {}, but there are {}", device, pod.devices());
  }
}

// Coordinates in all dimensions: slice, axes of the torus, core.
std::vector<int> coordinates(int device, const Pod& pod) {
  const Place place = place_of(device, pod);
  std::vector<int> out{place.slice};
  for (size_t axis = 0; axis < pod.torus.axes.size(); ++axis) {
    out.push_back(pod.torus.coordinate(place.chip, static_cast<int>(axis)));
  }
  out.push_back(place.core);
  return out;
}

// Equal steps between sorted, different values; nothing otherwise.
std::optional<Reach> reach_of(std::vector<int> values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  Reach reach{static_cast<int>(values.size()), 1};
  if (values.size() == 1) return reach;
  reach.stride = values[1] - values[0];
  for (size_t i = 1; i < values.size(); ++i) {
    if (values[i] - values[i - 1] != reach.stride) return std::nullopt;
  }
  return reach;
}

std::optional<std::vector<Reach>> reaches_of(const std::vector<int>& group, const Pod& pod) {
  std::vector<std::vector<int>> values(pod.torus.axes.size() + 2);
  for (int device : group) {
    const std::vector<int> at = coordinates(device, pod);
    for (size_t i = 0; i < at.size(); ++i) values[i].push_back(at[i]);
  }
  std::vector<Reach> reaches;
  size_t product = 1;
  for (std::vector<int>& of_dimension : values) {
    const auto reach = reach_of(std::move(of_dimension));
    if (!reach) return std::nullopt;
    reaches.push_back(*reach);
    product *= reach->count;
  }
  // Devices differ, so that as many as the box has fill it.
  return product == group.size() ? std::optional(reaches) : std::nullopt;
}

bool same(const Reach& a, const Reach& b) { return a.count == b.count && a.stride == b.stride; }

}  // namespace

int Box::chips() const {
  int chips = 1;
  for (const Reach& reach : axes) chips *= reach.count;
  return chips;
}

Place place_of(int device, const Pod& pod) {
  const int chip = device / pod.devices_per_chip;
  return {chip / pod.torus.chips(), chip % pod.torus.chips(), device % pod.devices_per_chip};
}

Box whole_pod(const Pod& pod) {
  Box box;
  box.slices.count = pod.slices;
  for (const Axis& axis : pod.torus.axes) box.axes.push_back({axis.extent, 1});
  box.cores.count = pod.devices_per_chip;
  return box;
}

std::optional<Box> box_of(const DeviceGroups& groups, const Pod& pod) {
  if (groups.empty()) return whole_pod(pod);
  std::optional<std::vector<Reach>> first;
  for (const std::vector<int>& group : groups) {
    auto reaches = reaches_of(group, pod);
    if (!reaches) return std::nullopt;
    if (!first) first = reaches;
    if (!std::ranges::equal(*first, *reaches, same)) return std::nullopt;
  }
  return Box{first->front(), {first->begin() + 1, first->end() - 1}, first->back()};
}

void check_groups(const DeviceGroups& groups, const Pod& pod) {
  if (groups.empty()) return;
  std::vector<bool> seen(pod.devices());
  int count = 0;
  for (const std::vector<int>& group : groups) {
    for (int device : group) {
      check_device(device, pod);
      if (seen[device]) throw user_error("a collective's groups name device {} twice", device);
      seen[device] = true;
      ++count;
    }
  }
  if (count != pod.devices()) {
    throw user_error("a collective's groups name {} devices, but there are {}", count, pod.devices());
  }
}

void check_pairs(const DevicePairs& pairs, const Pod& pod) {
  std::vector<bool> sends(pod.devices()), receives(pod.devices());
  for (const auto& [from, to] : pairs) {
    check_device(from, pod);
    check_device(to, pod);
    if (sends[from] || receives[to]) {
      throw user_error("a collective-permute's pair {} -> {} sends or receives twice", from, to);
    }
    sends[from] = receives[to] = true;
  }
}

}  // namespace armillary::sim
