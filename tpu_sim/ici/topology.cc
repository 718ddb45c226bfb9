#include "tpu_sim/ici/topology.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>

#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr int kLargestExtent = 1 << 20, kMostChips = 1 << 20;

std::optional<int> positive_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 1 && value <= kLargestExtent ? std::optional(value) : std::nullopt;
}

std::vector<int> parse_extents(std::string_view shape) {
  std::vector<int> extents;
  for (std::string_view rest = shape;;) {
    const size_t end = rest.find('x');
    const auto extent = positive_number(rest.substr(0, end));
    if (!extent) {
      throw user_error("'{}' is no shape of a slice: '{}' is no extent from 1 to {}; write 4x4 or 4x4x4",
                       shape, rest.substr(0, end), kLargestExtent);
    }
    extents.push_back(*extent);
    if (end == std::string_view::npos) return extents;
    rest.remove_prefix(end + 1);
  }
}

std::string join(const std::vector<int>& extents) { return fmt::format("{}", fmt::join(extents, "x")); }

// A slice may lie in the pod in any direction.
void check_fits(const Chip& chip, std::vector<int> extents, std::string_view shape) {
  std::vector<int> pod = chip.pod();
  const std::string largest = join(pod);
  std::ranges::sort(pod, std::greater());
  std::ranges::sort(extents, std::greater());
  extents.erase(std::ranges::find(extents, 1), extents.end());
  bool fits = extents.size() <= pod.size();
  for (size_t i = 0; fits && i < extents.size(); ++i) fits = extents[i] <= pod[i];
  if (fits) return;
  if (pod.empty())
    throw user_error("{}:{} does not exist: {} has no links between chips", chip.name(), shape, chip.name());
  throw user_error("{}:{} does not exist: a pod of {} is {}", chip.name(), shape, chip.name(), largest);
}

}  // namespace

int Topology::chips() const {
  int count = 1;
  for (const Axis& axis : axes) count *= axis.extent;
  return count;
}

int Topology::stride(int axis) const {
  int stride = 1;
  for (size_t i = axis + 1; i < axes.size(); ++i) stride *= axes[i].extent;
  return stride;
}

int Topology::coordinate(int chip, int axis) const { return chip / stride(axis) % axes[axis].extent; }

int Topology::neighbour(int chip, int axis, int steps) const {
  const auto [extent, wraps] = axes[axis];
  const int from = coordinate(chip, axis);
  int to = from + steps;
  if (to < 0 || to >= extent) {
    if (!wraps) return -1;
    to = (to % extent + extent) % extent;
  }
  return chip + (to - from) * stride(axis);
}

Topology make_topology(const Chip& chip, std::string_view shape) {
  const std::vector<int> extents = parse_extents(shape);
  if (extents.size() > 3)
    throw user_error("{}:{} has {} axes, but at most 3 exist", chip.name(), shape, extents.size());
  check_fits(chip, extents, shape);
  const int multiple = static_cast<int>(chip["ici_wrap_multiple"]);
  int64_t count = 1;
  for (int extent : extents) count *= extent;
  if (count > kMostChips)
    throw user_error("{}:{} has {} chips, but at most {} can be simulated", chip.name(), shape, count,
                     kMostChips);
  // Three axes wrap through optical switches, which join whole cubes only.
  const bool cubes = chip["ici_axes"] == 3;
  const auto fits = [&](int extent) { return extent > 1 && multiple > 0 && extent % multiple == 0; };
  const bool whole = extents.size() == 3 && std::ranges::all_of(extents, fits);
  Topology torus;
  for (int extent : extents) torus.axes.push_back({extent, cubes ? whole : fits(extent)});
  return torus;
}

Slices parse_slices(const Chip& chip, std::string_view shape) {
  Slices slices{&chip, {}, 1};
  if (const size_t plus = shape.find('+'); plus != std::string_view::npos) {
    const std::string_view number = shape.substr(plus + 1);
    const auto count = positive_number(number);
    if (!count) throw user_error("topology '{}:{}': '{}' is no number of slices", chip.name(), shape, number);
    slices.count = *count;
    shape = shape.substr(0, plus);
  }
  slices.torus = make_topology(chip, shape);
  return slices;
}

Slices parse_slices(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    throw user_error("topology '{}' has no shape; write chip:shape, such as v5e:4x4", text);
  }
  return parse_slices(find_chip(text.substr(0, colon)), text.substr(colon + 1));
}

}  // namespace armillary::sim
