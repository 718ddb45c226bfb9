// The units of a core: how long each takes for its part of a tile, and when it is free.
#pragma once

#include <algorithm>
#include <span>

#include "tpu_sim/isa.h"
#include "tpu_sim/spec/device.h"

namespace armillary::sim {

// Something that does one thing at a time. Nobody owns a clock: ready() is pure, issue() books the server and
// returns when it is done.
class Server {
 public:
  Tick ready(Tick now) const { return std::max(now, free_); }

  Tick issue(Tick duration, Tick now) {
    free_ = ready(now) + duration;
    busy_ += duration;
    return free_;
  }

  Tick busy() const { return busy_; }  // ticks in which it worked

 private:
  Tick free_ = 0, busy_ = 0;
};

// Ticks of one tile's work on each unit. Throw a user error on negative work or what does not fit 64 bits.

// The matrix units share the weight tiles (rows x cols of B) of a product; where there are fewer of those
// than units, they share the rows of A. Each streams the rows of A that pass a weight tile, at least as many
// as the array has rows, since the next weights move in meanwhile.
Tick matrix_ticks(const MatrixWork& work, const Device& device);
// What shows once in a chain of products that follow each other: the first weights' way in, and the skew of
// rows and columns.
Tick matrix_fill_ticks(DType operand, const Device& device);

// All slots take arithmetic; the one for transcendental functions is beside them, and the slower of both
// counts.
Tick vector_ticks(const VectorWork& work, const Device& device);

Tick transpose_ticks(const TransposeWork& work, const Device& device);

// Between VMEM and registers: kVmemPorts registers a cycle.
Tick load_store_ticks(int64_t bytes, const Device& device);

// One operation a cycle.
Tick scalar_ticks(int64_t operations, const Device& device);

// HBM as seen by DMA: runs are rounded up to bursts; latency is not included.
Tick hbm_ticks(int64_t bytes, int64_t run, const Device& device);

// Ticks stay below what can be simulated; throw a user error beyond.
Tick to_ticks(double ticks);  // rounded up
Tick add_ticks(Tick a, Tick b);
Tick multiply_ticks(Tick one, int64_t count);

}  // namespace armillary::sim
