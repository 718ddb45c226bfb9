// An exact systolic array: every processing element, every register, every cycle, with real values moving
// through. It exists to be right, not fast: closed forms (cycles.h) are tested against it, and small dots can
// be computed in it.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "tpu_sim/systolic/gemm.h"

namespace armillary::sim {

// Upper half of an f32: the array multiplies exactly and sums in f32.
struct Bf16 {
  uint16_t bits = 0;

  float value() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

template <class Sum>
struct GridResult {
  std::vector<Sum> values;  // C, M x N, row major
  Cycles cycles = 0;        // until the last sum has left the array
  int64_t multiplications = 0;
};

// A is M x K and B is K x N, both row major. Sums over several tiles of K are added in the accumulators below
// the array, tile after tile; int32 sums wrap, as hardware's do. Throws a user error if a span's size does
// not fit.
template <class T, class Sum>
GridResult<Sum> run_grid(const Gemm& gemm, const ArrayShape& array, Dataflow flow, Overlap overlap,
                         std::span<const T> a, std::span<const T> b);

extern template GridResult<float> run_grid(const Gemm&, const ArrayShape&, Dataflow, Overlap,
                                           std::span<const float>, std::span<const float>);
extern template GridResult<float> run_grid(const Gemm&, const ArrayShape&, Dataflow, Overlap,
                                           std::span<const Bf16>, std::span<const Bf16>);
extern template GridResult<int32_t> run_grid(const Gemm&, const ArrayShape&, Dataflow, Overlap,
                                             std::span<const int8_t>, std::span<const int8_t>);

}  // namespace armillary::sim
