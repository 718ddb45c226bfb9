#include "tpu_sim/core/units.h"

#include <array>
#include <cmath>

#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr double kRegister = kSublanes * kLanes;  // elements of 32 bits
constexpr double kVmemPorts = 3;                  // assumed: registers a cycle between VMEM and the core

// Vector instructions that an element of each kind takes; assumed, but for the first.
struct VectorCost {
  double any_slot, transcendental_slot;
};
constexpr std::array<VectorCost, kNumVectorOps> kVectorCosts = {{
    {1, 0},  // arithmetic
    {1, 0},  // integer
    {1, 0},  // select
    {1, 0},  // convert
    {3, 1},  // divide: a reciprocal and its correction
    {4, 1},  // transcendental: range reduction and the way back
}};

constexpr double kCyclesTransposed = 1, kCyclesReduced = 2, kCyclesPermuted = 1;  // of a register; assumed

double not_negative(std::string_view what, int64_t value) {
  if (value < 0) throw user_error("{} is {}, but cannot be negative", what, value);
  return static_cast<double>(value);
}

double registers(std::string_view what, int64_t elements) {
  return std::ceil(not_negative(what, elements) / kRegister);
}

double ceil_div(double a, double b) { return std::ceil(a / b); }

}  // namespace

Tick to_ticks(double ticks) {
  if (!(ticks <= kLargestTick)) {
    throw user_error("{:.3g} s is longer than can be simulated", ticks / kTicksPerSecond);
  }
  return static_cast<Tick>(std::ceil(ticks));
}

Tick add_ticks(Tick a, Tick b) {
  Tick sum = 0;
  const bool fits = !__builtin_add_overflow(a, b, &sum) && static_cast<double>(sum) <= kLargestTick;
  return fits ? sum : to_ticks(static_cast<double>(a) + static_cast<double>(b));
}

Tick multiply_ticks(Tick one, int64_t count) {
  Tick product = 0;
  if (__builtin_mul_overflow(one, count, &product))
    return to_ticks(static_cast<double>(one) * static_cast<double>(count));
  return add_ticks(product, 0);
}

Tick matrix_ticks(const MatrixWork& w, const Device& d) {
  const double m = not_negative("m of a product", w.m), n = not_negative("n of a product", w.n),
               k = not_negative("k of a product", w.k), count = not_negative("count of products", w.count);
  if (w.passes < 1) throw user_error("a product of {} passes, but it takes at least 1", w.passes);
  if (m == 0 || n == 0 || k == 0) return 0;
  const double rows = static_cast<double>(d.mxu_rows), units = static_cast<double>(d.mxus);
  const double weights = ceil_div(k, rows) * ceil_div(n, static_cast<double>(d.mxu_cols)) * count;
  const double streamed = kSublanes * ceil_div(m, kSublanes);
  const double sharing = std::max(1.0, std::floor(units / weights));  // units at one weight tile
  const double turns = ceil_div(weights, units);
  return to_ticks(turns * std::max(ceil_div(streamed, sharing), rows) * w.passes * d.ticks_per_row(w.type));
}

Tick matrix_fill_ticks(DType operand, const Device& d) {
  return to_ticks(static_cast<double>(2 * d.mxu_rows + d.mxu_cols - 2) * d.ticks_per_row(operand));
}

Tick vector_ticks(const VectorWork& work, const Device& d) {
  double any = 0, transcendental = 0;
  for (size_t i = 0; i < work.size(); ++i) {
    const double r = registers("vector work", work[i]);
    any += r * kVectorCosts[i].any_slot;
    transcendental += r * kVectorCosts[i].transcendental_slot;
  }
  return to_ticks(std::max(std::ceil(any / d.vector_registers), transcendental) * d.ticks_per_cycle);
}

Tick transpose_ticks(const TransposeWork& w, const Device& d) {
  const double cycles = registers("transposed", w.transposed) * kCyclesTransposed +
                        registers("reduced", w.reduced) * kCyclesReduced +
                        registers("permuted", w.permuted) * kCyclesPermuted;
  return to_ticks(std::ceil(cycles / d.transpose_units) * d.ticks_per_cycle);
}

Tick load_store_ticks(int64_t bytes, const Device& d) {
  const double cycles = std::ceil(not_negative("vmem traffic", bytes) / (4 * kRegister * kVmemPorts));
  return to_ticks(cycles * d.ticks_per_cycle);
}

Tick scalar_ticks(int64_t operations, const Device& d) {
  return to_ticks(not_negative("scalar operations", operations) * d.ticks_per_cycle);
}

Tick hbm_ticks(int64_t bytes, int64_t run, const Device& d) {
  double moved = not_negative("bytes", bytes);
  if (not_negative("run", run) > 0 && run < bytes) {
    const double burst = static_cast<double>(d.burst_bytes), length = static_cast<double>(run);
    moved *= burst * ceil_div(length, burst) / length;
  }
  return to_ticks(moved / d.hbm_bytes_per_tick);
}

}  // namespace armillary::sim
