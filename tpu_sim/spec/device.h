// What a chip's row means for one device of it: rates and latencies in ticks.
#pragma once

#include "tpu_sim/spec/chip.h"
#include "tpu_sim/spec/tick.h"
#include "xla_core/shape/dtype.h"

namespace armillary::sim {

// A device is what a program runs on: all cores of a chip, or one of them.
struct Device {
  explicit Device(const Chip& chip);

  int64_t mxus = 1, mxu_rows = 128, mxu_cols = 128;
  double vector_registers = 1;  // registers of (8, 128) that the lanes process a cycle, over all slots
  double transpose_units = 1;
  double ticks_per_cycle = 1;     // of the cores' clock
  double hbm_bytes_per_tick = 1;  // that large transfers reach
  double hbm_nominal_bytes_per_tick = 1;
  int64_t burst_bytes = 1;
  Tick dma_latency = 0;
  Tick op_launch = 0;   // from the end of one command to the first work of the next
  Tick tile_step = 0;   // what the core does between two tiles of a loop, while DMAs run on
  Tick row_access = 0;  // between rows that are picked by indices
  int64_t vmem_bytes = 0;
  double hbm_bytes = 0;
  double host_bytes_per_tick = 1;
  double peak_flops = 0;  // bf16; int8 where it has no bf16

  // Ticks in which a matrix unit streams one row of operands of this type; efficiency included.
  double ticks_per_row(DType operand) const;

 private:
  double bf16_row_ = 1, int8_row_ = 1, fp8_row_ = 1;
};

}  // namespace armillary::sim
