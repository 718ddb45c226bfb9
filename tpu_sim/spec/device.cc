#include "tpu_sim/spec/device.h"

#include <algorithm>

namespace armillary::sim {
namespace {

Tick nanoseconds(double ns) { return static_cast<Tick>(std::llround(ns * 1e3)); }

}  // namespace

Device::Device(const Chip& chip) {
  const double devices = chip["devices_per_chip"], cores = chip["cores"] / devices;
  mxus = static_cast<int64_t>(chip["mxus_per_core"] * cores);
  mxu_rows = static_cast<int64_t>(chip["mxu_rows"]);
  mxu_cols = static_cast<int64_t>(chip["mxu_cols"]);
  // v1 has an activation unit in place of lanes, as wide as its array.
  const double lanes = chip["vpu_lanes"] > 0 ? chip["vpu_lanes"] * chip["vpu_sublanes"] : chip["mxu_cols"];
  vector_registers = std::max(1.0, chip["vpu_slots"]) * lanes / 1024 * cores;
  transpose_units = chip["xlus_per_core"] * cores;
  ticks_per_cycle = kTicksPerSecond / chip["clock_hz"];
  hbm_nominal_bytes_per_tick = chip["hbm_bytes_per_s"] / devices / kTicksPerSecond;
  hbm_bytes_per_tick = hbm_nominal_bytes_per_tick * chip["hbm_efficiency"];
  burst_bytes = static_cast<int64_t>(chip["dma_burst_bytes"]);
  dma_latency = nanoseconds(chip["dma_latency_ns"]);
  op_launch = nanoseconds(chip["op_launch_ns"]);
  tile_step = nanoseconds(chip["tile_step_ns"]);
  row_access = nanoseconds(chip["row_access_ns"]);
  vmem_bytes = static_cast<int64_t>(chip["vmem_bytes"] * cores);
  hbm_bytes = chip["hbm_bytes"] / devices;
  host_bytes_per_tick = chip["host_bytes_per_s"] / devices / kTicksPerSecond;

  // The public rate, not clock x units: on v6e and v7x the two differ.
  const double row = 2.0 * static_cast<double>(mxus * mxu_rows * mxu_cols) * devices;
  const auto ticks = [&](double peak) { return row / (peak * chip["mxu_efficiency"]) * kTicksPerSecond; };
  const double int8 = chip["peak_int8_ops"], bf16 = chip["peak_bf16_flops"], fp8 = chip["peak_fp8_flops"];
  peak_flops = (bf16 > 0 ? bf16 : int8) / devices;
  // v1 multiplies 16 bits by 16 at a quarter of its speed.
  bf16_row_ = ticks(bf16 > 0 ? bf16 : int8 / 4);
  int8_row_ = int8 > 0 ? ticks(int8) : bf16_row_;
  fp8_row_ = fp8 > 0 ? ticks(fp8) : bf16_row_;
}

double Device::ticks_per_row(DType operand) const {
  if (bit_width(operand) > 8 || is_pred(operand)) return bf16_row_;
  return is_float(operand) ? fp8_row_ : int8_row_;
}

}  // namespace armillary::sim
