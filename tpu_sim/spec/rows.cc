// The chips: one row each, every constant beside its source. Figures without a public source say "assumed".
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "tpu_sim/spec/chip.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr double kMiB = 1 << 20, kGiB = 1 << 30;

struct Entry {
  std::string_view key;
  double value;
  std::string_view source;
  std::optional<double> prior = {};  // fitted constants: what they were before
};

// What a row does not say itself. scaling-book is github.com/jax-ml/scaling-book, jax github.com/jax-ml/jax.
const std::vector<Entry> kCommon = {
    {"devices_per_chip", 1, "jax tpu_info.py: one core, or cores that work as one"},
    {"peak_fp8_flops", 0, "assumed: no fp8"},
    {"mxu_efficiency", 0.924, "assumed, as fitted on v6e"},
    {"xlus_per_core", 2, "assumed, as on v6e"},
    {"op_launch_ns", 800, "assumed, as fitted on v7x"},
    {"tile_step_ns", 350, "assumed, as fitted on v7x"},
    {"row_access_ns", 50, "assumed"},
    {"host_bytes_per_s", 1.5e10, "scaling-book tpus.md: PCIe of a chip"},
    {"core_link_bytes_per_s", 0, "one device on a chip"},
    {"dcn_latency_ns", 20000, "assumed"},
    {"mxu_rows", 128, "scaling-book tpus.md"},
    {"mxu_cols", 128, "scaling-book tpus.md"},
    {"vpu_lanes", 128, "assumed, as on v6e"},
    {"vpu_sublanes", 8, "assumed, as on v6e"},
    {"vpu_slots", 2, "assumed, as on v4"},
    {"hbm_efficiency", 0.85, "assumed, between what copies reach on v6e and v7x"},
    {"dma_latency_ns", 200, "assumed"},
    {"dma_burst_bytes", 512, "assumed"},
    {"ici_hop_ns", 1000, "scaling-book sharding.md: about 1 us a hop"},
    {"launch_ns", 2000, "assumed"},
    {"pod_z", 1, "2D torus"},
    {"dcn_bytes_per_s", 2.5e10, "scaling-book tpus.md"},
};

const std::vector<Entry> kV1 = {
    {"op_launch_ns", 0, "assumed, part of the non-matrix share"},
    {"tile_step_ns", 0, "assumed, part of the non-matrix share"},
    {"mxu_efficiency", 1, "assumed; the paper's own model uses all of it"},
    {"clock_hz", 700000000, "Jouppi 2017 table 2"},
    {"cores", 1, "Jouppi 2017 section 2"},
    {"mxus_per_core", 1, "Jouppi 2017 section 2"},
    {"mxu_rows", 256, "Jouppi 2017 section 2"},
    {"mxu_cols", 256, "Jouppi 2017 section 2"},
    {"peak_bf16_flops", 0, "Jouppi 2017 section 2: integers only"},
    {"peak_int8_ops", 9.2e13, "Jouppi 2017 table 2"},
    {"vpu_lanes", 0, "assumed, no such thing on v1"},
    {"vpu_sublanes", 0, "assumed, no such thing on v1"},
    {"vpu_slots", 0, "assumed, no such thing on v1"},
    {"vmem_bytes", 24 * kMiB, "Jouppi 2017 section 2: unified buffer"},
    {"hbm_bytes", 8 * kGiB, "Jouppi 2017 section 2: weight DRAM"},
    {"hbm_bytes_per_s", 3.4e10, "Jouppi 2017 table 2: weight DRAM"},
    {"hbm_efficiency", 1, "assumed; the paper's own model uses all of it"},
    {"ici_axes", 0, "Jouppi 2017: no links"},
    {"ici_wrap_multiple", 0, "assumed, no such thing on v1"},
    {"ici_bytes_per_s", 0, "Jouppi 2017: no links"},
    {"ici_efficiency", 1, "assumed, no such thing on v1"},
    {"ici_hop_ns", 0, "assumed, no such thing on v1"},
    {"launch_ns", 0, "assumed, no such thing on v1"},
    {"pod_x", 1, "Jouppi 2017: no links"},
    {"pod_y", 1, "Jouppi 2017: no links"},
    {"pod_z", 1, "Jouppi 2017: no links"},
    {"chips_per_host", 4, "assumed"},
    {"dcn_bytes_per_s", 0, "assumed"},
};

const std::vector<Entry> kV2 = {
    {"devices_per_chip", 2, "jax tpu_info.py: no megacore"},
    {"core_link_bytes_per_s", 1e11, "assumed"},
    {"clock_hz", 700000000, "assumed (Norrie 2021 from memory)"},
    {"cores", 2, "assumed (Norrie 2021 from memory)"},
    {"mxus_per_core", 1, "assumed (Norrie 2021 from memory)"},
    {"mxu_rows", 128, "assumed (Norrie 2021 from memory)"},
    {"mxu_cols", 128, "assumed (Norrie 2021 from memory)"},
    {"peak_bf16_flops", 4.6e13, "assumed (Norrie 2021 from memory)"},
    {"peak_int8_ops", 0, "assumed"},
    {"vmem_bytes", 16 * kMiB, "jax tpu_info.py"},
    {"hbm_bytes", 16 * kGiB, "assumed (Norrie 2021 from memory)"},
    {"hbm_bytes_per_s", 7e11, "assumed (Norrie 2021 from memory)"},
    {"ici_axes", 2, "assumed (Norrie 2021 from memory)"},
    {"ici_wrap_multiple", 16, "assumed: only a whole pod wraps"},
    {"ici_bytes_per_s", 6.2e10, "assumed (Norrie 2021 from memory)"},
    {"ici_efficiency", 0.9, "assumed"},
    {"pod_x", 16, "assumed (Norrie 2021 from memory)"},
    {"pod_y", 16, "assumed (Norrie 2021 from memory)"},
    {"chips_per_host", 4, "assumed"},
};

const std::vector<Entry> kV3 = {
    {"devices_per_chip", 2, "jax tpu_info.py: no megacore"},
    {"core_link_bytes_per_s", 1e11, "assumed"},
    {"clock_hz", 940000000, "assumed; the stated peak would need 1.07 GHz"},
    {"cores", 2, "assumed (Norrie 2021 from memory)"},
    {"mxus_per_core", 2, "assumed (Norrie 2021 from memory)"},
    {"mxu_rows", 128, "assumed (Norrie 2021 from memory)"},
    {"mxu_cols", 128, "assumed (Norrie 2021 from memory)"},
    {"peak_bf16_flops", 1.4e14, "scaling-book tpus.md"},
    {"peak_int8_ops", 0, "assumed"},
    {"vmem_bytes", 16 * kMiB, "jax tpu_info.py"},
    {"hbm_bytes", 32 * kGiB, "scaling-book tpus.md; 2 x 16 GiB by the compiler's own count (LWM#60)"},
    {"hbm_bytes_per_s", 9e11, "scaling-book tpus.md"},
    {"ici_axes", 2, "scaling-book tpus.md: pod of 32 x 32"},
    {"ici_wrap_multiple", 32, "assumed: only a whole pod wraps"},
    {"ici_bytes_per_s", 1e11, "scaling-book tpus.md; ASTRA-sim's validation page used 80 GB/s"},
    {"ici_efficiency", 0.9, "assumed"},
    {"pod_x", 32, "scaling-book tpus.md"},
    {"pod_y", 32, "scaling-book tpus.md"},
    {"chips_per_host", 8, "scaling-book tpus.md: host of 4 x 2"},
};

const std::vector<Entry> kV4I = {
    {"clock_hz", 1050000000, "assumed (Jouppi 2021, table 1, from memory)"},
    {"cores", 1, "assumed (Jouppi 2021, table 1, from memory)"},
    {"mxus_per_core", 4, "assumed (Jouppi 2021, table 1, from memory)"},
    {"peak_bf16_flops", 1.38e14, "assumed (Jouppi 2021, table 1, from memory)"},
    {"peak_int8_ops", 1.38e14, "assumed (Jouppi 2021, table 1, from memory)"},
    {"vmem_bytes", 16 * kMiB, "jax tpu_info.py"},
    {"hbm_bytes", 8 * kGiB, "assumed (Jouppi 2021, table 1, from memory)"},
    {"hbm_bytes_per_s", 6.14e11, "assumed (Jouppi 2021, table 1, from memory)"},
    {"ici_axes", 1, "assumed (Jouppi 2021, table 1, from memory)"},
    {"ici_wrap_multiple", 4, "assumed"},
    {"ici_bytes_per_s", 5e10, "assumed (Jouppi 2021, table 1, from memory)"},
    {"ici_efficiency", 0.9, "assumed"},
    {"pod_x", 4, "assumed"},
    {"pod_y", 1, "assumed"},
    {"pod_z", 1, "assumed"},
    {"chips_per_host", 4, "assumed"},
};

const std::vector<Entry> kV4 = {
    {"clock_hz", 1050000000, "inferred from trace timestamps: multiples of 9 / 1050 MHz"},
    {"cores", 2, "scaling-book tpus.md"},
    {"mxus_per_core", 4, "scaling-book tpus.md: 4 for TPU v4 and v5"},
    {"peak_bf16_flops", 2.75e14, "scaling-book tpus.md"},
    {"peak_int8_ops", 2.75e14, "scaling-book tpus.md"},
    {"vpu_lanes", 128, "scaling-book tpus.md appendix C"},
    {"vpu_sublanes", 8, "scaling-book tpus.md appendix C"},
    {"vpu_slots", 2, "scaling-book tpus.md appendix C: 2 ALUs"},
    {"vmem_bytes", 16 * kMiB, "jax tpu_info.py"},
    {"hbm_bytes", 32 * kGiB, "scaling-book tpus.md; GiB by the compiler's own count (EasyDeL#166)"},
    {"hbm_bytes_per_s", 1.2e12, "scaling-book tpus.md"},
    {"ici_axes", 3, "scaling-book tpus.md"},
    {"ici_wrap_multiple", 4, "scaling-book tpus.md: whole cubes of 4 x 4 x 4"},
    {"ici_bytes_per_s", 4.5e10, "scaling-book tpus.md"},
    {"ici_efficiency", 0.95, "assumed, as on v5e"},
    {"pod_x", 16, "scaling-book tpus.md"},
    {"pod_y", 16, "scaling-book tpus.md"},
    {"pod_z", 16, "scaling-book tpus.md"},
    {"chips_per_host", 4, "scaling-book tpus.md: host of 2 x 2 x 1"},
};

const std::vector<Entry> kV5E = {
    {"clock_hz", 1500000000, "scaling-book tpus.md"},
    {"cores", 1, "cloud.google.com TPU v5e page"},
    {"mxus_per_core", 4, "cloud.google.com TPU v5e page"},
    {"mxu_rows", 128, "cloud.google.com TPU v5e page"},
    {"mxu_cols", 128, "cloud.google.com TPU v5e page"},
    {"peak_bf16_flops", 1.97e14, "cloud.google.com TPU v5e page"},
    {"peak_int8_ops", 3.93e14, "cloud.google.com TPU v5e page"},
    {"vmem_bytes", 128 * kMiB, "scaling-book tpus.md; pallas-forge's budget is 32 MiB"},
    {"hbm_bytes", 16 * kGiB, "cloud.google.com TPU v5e page; GiB as on v4"},
    {"hbm_bytes_per_s", 8.19e11, "cloud.google.com TPU v5e page, older one; the newer says 800 GiB/s"},
    {"ici_axes", 2, "cloud.google.com TPU v5e page"},
    {"ici_wrap_multiple", 16, "scaling-book tpus.md: only axes of 16"},
    {"ici_bytes_per_s", 5e10, "cloud.google.com TPU v5e page: 400 GB/s both ways over 4 ports"},
    {"ici_efficiency", 0.855,
     "fitted on scaling-book sharding.md: all-gather over 16 chips, 95 % of 45 GB/s; prior: 45", 0.9},
    {"pod_x", 16, "cloud.google.com TPU v5e page"},
    {"pod_y", 16, "cloud.google.com TPU v5e page"},
    {"chips_per_host", 8, "assumed"},
};

const std::vector<Entry> kV5P = {
    {"clock_hz", 1750000000, "assumed: the stated peak over the stated units"},
    {"cores", 2, "cloud.google.com TPU v5p page"},
    {"mxus_per_core", 4, "cloud.google.com TPU v5p page"},
    {"peak_bf16_flops", 4.59e14, "cloud.google.com TPU v5p page"},
    {"peak_int8_ops", 9.18e14, "scaling-book tpus.md; the v5p page lists 459 for fp8"},
    {"vmem_bytes", 64 * kMiB, "jax tpu_info.py"},
    {"hbm_bytes", 95 * kGiB, "cloud.google.com TPU v5p page; GiB as on v4"},
    {"hbm_bytes_per_s", 2.765e12, "cloud.google.com TPU v5p page"},
    {"ici_axes", 3, "cloud.google.com TPU v5p page"},
    {"ici_wrap_multiple", 4, "assumed, as on v4"},
    {"ici_bytes_per_s", 1e11, "cloud.google.com TPU v5p page: 1200 GB/s both ways over 6 ports"},
    {"ici_efficiency", 0.9, "scaling-book tpus.md: 90 GB/s one way"},
    {"pod_x", 16, "assumed: 16 x 20 x 28 = 8960 chips"},
    {"pod_y", 20, "assumed: 16 x 20 x 28 = 8960 chips"},
    {"pod_z", 28, "assumed: 16 x 20 x 28 = 8960 chips"},
    {"chips_per_host", 4, "assumed"},
};

const std::vector<Entry> kV6E = {
    {"xlus_per_core", 2, "cloud.google.com TPU v6e page"},
    {"host_bytes_per_s", 3.2e10, "scaling-book tpus.md: PCIe of a chip"},
    {"clock_hz", 1750000000, "assumed; the stated peak over the stated units would need 3.5 GHz"},
    {"cores", 1, "cloud.google.com TPU v6e page"},
    {"mxus_per_core", 2, "cloud.google.com TPU v6e page"},
    {"mxu_rows", 256, "cloud.google.com TPU v6e page"},
    {"mxu_cols", 256, "cloud.google.com TPU v6e page"},
    {"peak_bf16_flops", 9.18e14, "cloud.google.com TPU v6e page; XProf shows 946.7"},
    {"peak_int8_ops", 1.836e15, "cloud.google.com TPU v6e page"},
    {"vpu_lanes", 128, "cloud.google.com TPU v6e page"},
    {"vpu_sublanes", 8, "cloud.google.com TPU v6e page"},
    {"vpu_slots", 4, "assumed"},
    {"vmem_bytes", 128 * kMiB, "jax tpu_info.py; tpu-inference's budget is 96 MiB"},
    {"hbm_bytes", 32 * kGiB, "cloud.google.com TPU v6e page; GiB as on v4"},
    {"hbm_bytes_per_s", 1.638e12, "cloud.google.com TPU v6e page"},
    {"hbm_efficiency", 0.847,
     "fitted on tpu-recipes microbenchmarks: copy of 32 MiB; prior: copies reach 80 to 90 %", 0.85},
    {"mxu_efficiency", 0.924, "fitted on tpu-recipes microbenchmarks: matmul of 8192^3; prior assumed", 0.95},
    {"ici_axes", 2, "cloud.google.com TPU v6e page"},
    {"ici_wrap_multiple", 16, "assumed, as on v5e"},
    {"ici_bytes_per_s", 1e11, "cloud.google.com TPU v6e page: 800 GB/s both ways over 4 ports"},
    {"ici_efficiency", 0.9, "assumed, as on v5p"},
    {"pod_x", 16, "cloud.google.com TPU v6e page"},
    {"pod_y", 16, "cloud.google.com TPU v6e page"},
    {"chips_per_host", 8, "assumed"},
};

const std::vector<Entry> kV7X = {
    {"devices_per_chip", 2, "cloud.google.com TPU tpu7x page: a device for each TensorCore"},
    {"core_link_bytes_per_s", 6e11, "cloud.google.com TPU tpu7x page: six times a link of one axis"},
    {"peak_fp8_flops", 4.614e15, "cloud.google.com TPU tpu7x page"},
    {"clock_hz", 2200000000, "assumed; the peak over the units assumed here would need 4.4 GHz"},
    {"cores", 2, "cloud.google.com TPU tpu7x page"},
    {"mxus_per_core", 2, "jax tpu_info.py"},
    {"mxu_rows", 256, "jax tpu_info.py"},
    {"mxu_cols", 256, "jax tpu_info.py"},
    {"peak_bf16_flops", 2.307e15, "cloud.google.com TPU tpu7x page"},
    {"peak_int8_ops", 0, "jax tpu_info.py: none"},
    {"vpu_slots", 4, "assumed"},
    {"vmem_bytes", 64 * kMiB, "jax tpu_info.py; tpu-inference's budget is 48 MiB"},
    {"hbm_bytes", 192 * kGiB, "cloud.google.com TPU tpu7x page"},
    {"hbm_bytes_per_s", 7.38e12, "accelerator-microbenchmarks core/system.py"},
    {"hbm_efficiency", 0.87, "fitted on tpu-recipes microbenchmarks: copies; prior: copies reach 80 to 90 %",
     0.85},
    {"mxu_efficiency", 0.83, "fitted on tpu-recipes microbenchmarks: matmuls; prior assumed", 0.95},
    {"op_launch_ns", 800, "fitted on tpu-recipes microbenchmarks: matmuls and copies; prior assumed", 1000},
    {"tile_step_ns", 350, "fitted on tpu-recipes microbenchmarks: matmuls; prior assumed", 200},
    {"ici_axes", 3, "tpu-recipes: topologies of three extents"},
    {"ici_wrap_multiple", 4, "assumed, as on v4"},
    {"ici_bytes_per_s", 1e11,
     "accelerator-microbenchmarks core/system.py: 1200 GB/s both ways; 6 ports assumed"},
    {"ici_efficiency", 0.9, "fitted on tpu-recipes microbenchmarks: all-gather; prior assumed, as on v5p",
     0.9},
    {"launch_ns", 11200, "fitted on tpu-recipes microbenchmarks: all-gather; prior assumed, as on v5e", 2000},
    {"pod_x", 16, "assumed: 16 x 24 x 24 = 9216 chips"},
    {"pod_y", 24, "assumed: 16 x 24 x 24 = 9216 chips"},
    {"pod_z", 24, "assumed: 16 x 24 x 24 = 9216 chips"},
    {"chips_per_host", 4, "assumed"},
};

const Entry* find(const std::vector<Entry>& entries, std::string_view key) {
  for (const Entry& e : entries) {
    if (e.key == key) return &e;
  }
  return nullptr;
}

Chip make(std::string_view name, const std::vector<Entry>& row) {
  std::vector<Constant> constants;
  for (const ChipKey& key : chip_keys()) {
    const Entry* entry = find(row, key.name);
    if (!entry) entry = find(kCommon, key.name);
    if (!entry) throw internal_error("chip {} lacks {}", name, key.name);
    constants.push_back({entry->value, std::string(entry->source), entry->prior});
  }
  return Chip(std::string(name), std::move(constants));
}

}  // namespace

std::span<const Chip> chips() {
  static const std::vector<Chip> all = {
      make("v1", kV1),   make("v2", kV2),   make("v3", kV3),   make("v4", kV4),   make("v4i", kV4I),
      make("v5e", kV5E), make("v5p", kV5P), make("v6e", kV6E), make("v7x", kV7X),
  };
  return all;
}

}  // namespace armillary::sim
