#include "tpu_sim/pod.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr int kMostDevices = 1 << 20;

Pod make_pod(const Chip& chip, const Slices& slices) {
  Pod pod{chip, slices.torus, slices.count, static_cast<int>(chip["devices_per_chip"])};
  const int64_t devices = int64_t{slices.count} * slices.torus.chips() * pod.devices_per_chip;
  if (devices > kMostDevices) {
    throw user_error("{} slices of {} chips are {} devices, but at most {} can be simulated", slices.count,
                     slices.torus.chips(), devices, kMostDevices);
  }
  if (slices.count > 1 && chip["dcn_bytes_per_s"] == 0) {
    throw user_error("{} has no network between slices", chip.name());
  }
  return pod;
}

// Everything behind "core" is wrong: a core has no neighbours.
bool is_core(std::string_view shape) { return shape == "core"; }

}  // namespace

std::string to_string(const Pod& pod) {
  std::string text = pod.chip.name() + ":";
  if (pod.devices() == 1 && pod.chip["devices_per_chip"] > 1) return text + "core";
  for (size_t a = 0; a < pod.torus.axes.size(); ++a)
    text += (a > 0 ? "x" : "") + std::to_string(pod.torus.axes[a].extent);
  return pod.slices > 1 ? text + "+" + std::to_string(pod.slices) : text;
}

Pod parse_pod(std::string_view text, const Chip& chip) {
  const size_t colon = text.find(':');
  const std::string_view shape = colon == std::string_view::npos ? text : text.substr(colon + 1);
  if (is_core(shape)) return {chip, Topology{{{1, false}}}, 1, 1};
  return make_pod(chip, parse_slices(chip, shape));
}

Pod parse_pod(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    throw user_error("topology '{}' has no shape; write chip:shape, such as v5e:4x4", text);
  }
  return parse_pod(text, find_chip(text.substr(0, colon)));
}

}  // namespace armillary::sim
