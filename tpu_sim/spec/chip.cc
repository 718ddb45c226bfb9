#include "tpu_sim/spec/chip.h"

#include <array>
#include <cmath>
#include <utility>

#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr std::array<ChipKey, 37> kKeys = {{
    {"clock_hz", "Hz", "clock of a core", 1e6, 1e11, false},
    {"cores", "", "TensorCores on a chip", 1, 64, true},
    {"devices_per_chip", "", "devices that programs see on a chip: 1, or one for each core", 1, 64, true},
    {"mxus_per_core", "", "matrix units in a core", 1, 64, true},
    {"mxu_rows", "", "rows of a matrix unit", 1, 4096, true},
    {"mxu_cols", "", "columns of a matrix unit", 1, 4096, true},
    {"peak_bf16_flops", "FLOP/s", "bf16 peak of a chip; 0: no bf16", 0, 1e19, false},
    {"peak_int8_ops", "op/s", "int8 peak of a chip; 0: none stated", 0, 1e19, false},
    {"peak_fp8_flops", "FLOP/s", "fp8 peak of a chip; 0: as bf16", 0, 1e19, false},
    {"mxu_efficiency", "", "share of the peak that long streams through the matrix units reach", 1e-3, 1,
     false},
    {"vpu_lanes", "", "lanes of the vector unit; 0: none", 0, 4096, true},
    {"vpu_sublanes", "", "sublanes of the vector unit", 0, 4096, true},
    {"vpu_slots", "", "vector operations a cycle", 0, 64, true},
    {"xlus_per_core", "", "transpose units in a core", 1, 64, true},
    {"op_launch_ns", "ns", "from one operation to the next on a core", 0, 1e9, false},
    {"tile_step_ns", "ns", "from one tile of a loop to the next on a core", 0, 1e9, false},
    {"vmem_bytes", "B", "scratchpad of a core", 1, 1e15, true},
    {"hbm_bytes", "B", "memory of a chip", 1, 1e18, true},
    {"hbm_bytes_per_s", "B/s", "nominal memory bandwidth of a chip", 1, 1e18, false},
    {"hbm_efficiency", "", "share of it that large copies reach", 1e-3, 1, false},
    {"dma_latency_ns", "ns", "from the start of a DMA to its first byte", 0, 1e9, false},
    {"dma_burst_bytes", "B", "smallest efficient transfer", 1, 1e9, true},
    {"row_access_ns", "ns", "a row by an index known at run time only", 0, 1e9, false},
    {"host_bytes_per_s", "B/s", "bandwidth between a chip and its host", 1, 1e18, false},
    {"ici_axes", "", "axes of the torus; 0: no links", 0, 3, true},
    {"ici_wrap_multiple", "",
     "an axis wraps if its extent (of three axes: all extents) is a multiple of this; 0: never", 0, 1e6,
     true},
    {"ici_bytes_per_s", "B/s", "nominal bandwidth of one link, one way; 0: no links", 0, 1e18, false},
    {"ici_efficiency", "", "share of it that large messages reach", 1e-3, 1, false},
    {"ici_hop_ns", "ns", "latency of a hop", 0, 1e9, false},
    {"launch_ns", "ns", "cost of starting a collective", 0, 1e9, false},
    {"core_link_bytes_per_s", "B/s", "between the devices of one chip, one way; 0: there is one", 0, 1e18,
     false},
    {"pod_x", "", "largest first extent", 1, 1e6, true},
    {"pod_y", "", "largest second extent", 1, 1e6, true},
    {"pod_z", "", "largest third extent", 1, 1e6, true},
    {"chips_per_host", "", "chips that share a host and its network", 1, 1024, true},
    {"dcn_bytes_per_s", "B/s", "network bandwidth of a host; 0: none stated", 0, 1e18, false},
    {"dcn_latency_ns", "ns", "latency of a message between slices", 0, 1e9, false},
}};

void check_constant(std::string_view chip, const ChipKey& key, double value) {
  if (!(value >= key.smallest && value <= key.largest)) {
    throw user_error("chip {}: {} is {}, but must be from {} to {}", chip, key.name, value, key.smallest,
                     key.largest);
  }
  if (key.whole && value != std::floor(value)) {
    throw user_error("chip {}: {} is {}, but must be a whole number", chip, key.name, value);
  }
}

}  // namespace

std::span<const ChipKey> chip_keys() { return kKeys; }

Chip::Chip(std::string name, std::vector<Constant> constants)
    : name_(std::move(name)), constants_(std::move(constants)) {
  if (constants_.size() != kKeys.size()) {
    throw user_error("chip {} has {} constants, but there are {} keys", name_, constants_.size(),
                     kKeys.size());
  }
  for (size_t i = 0; i < kKeys.size(); ++i) check_constant(name_, kKeys[i], constants_[i].value);
  check_together();
}

void Chip::check_together() const {
  const double devices = (*this)["devices_per_chip"], cores = (*this)["cores"];
  if (devices != 1 && devices != cores) {
    throw user_error("chip {}: devices_per_chip is {}, but must be 1 or {}, one for each core", name_,
                     devices, cores);
  }
  if (devices > 1 && (*this)["core_link_bytes_per_s"] == 0) {
    throw user_error("chip {}: core_link_bytes_per_s is 0, but its {} devices need a link", name_, devices);
  }
  if ((*this)["peak_bf16_flops"] == 0 && (*this)["peak_int8_ops"] == 0) {
    throw user_error("chip {}: peak_bf16_flops and peak_int8_ops are both 0", name_);
  }
}

const Constant& Chip::constant(std::string_view key) const {
  for (size_t i = 0; i < kKeys.size(); ++i) {
    if (kKeys[i].name == key) return constants_[i];
  }
  throw internal_error("a chip has no key {}", key);
}

std::vector<int> Chip::pod() const {
  const std::array<std::string_view, 3> names = {"pod_x", "pod_y", "pod_z"};
  std::vector<int> extents;
  for (int axis = 0; axis < static_cast<int>((*this)["ici_axes"]); ++axis) {
    extents.push_back(static_cast<int>((*this)[names[axis]]));
  }
  return extents;
}

const Chip& find_chip(std::string_view name) {
  std::string known;
  for (const Chip& chip : chips()) {
    if (chip.name() == name) return chip;
    known += (known.empty() ? "" : ", ") + chip.name();
  }
  throw user_error("there is no chip '{}'; there are {}", name, known);
}

}  // namespace armillary::sim
