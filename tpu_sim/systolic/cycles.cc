#include "tpu_sim/systolic/cycles.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr std::array<std::pair<std::string_view, Dataflow>, 3> kFlows = {
    {{"ws", Dataflow::kWeightStationary},
     {"os", Dataflow::kOutputStationary},
     {"is", Dataflow::kInputStationary}}};

// Extents up to here keep every count below 2^63: three of them meet in a product of tiles and streamed
// vectors.
constexpr int64_t kLargestExtent = int64_t{1} << 40;
constexpr int64_t kLargestArraySide = int64_t{1} << 20;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

void check_extent(std::string_view name, int64_t value, int64_t largest) {
  if (value < 1 || value > largest) {
    throw user_error("{} is {}, but must be at least 1 and at most {}", name, value, largest);
  }
}

// The tiles' cost is at most 4 x (streamed + R + C) each; refuses what would not fit.
void check_count(const Gemm& g, const ArrayShape& a, const Tiling& t) {
  int64_t tiles = 0, cycles = 0;
  if (__builtin_mul_overflow(t.row_tiles, t.col_tiles, &tiles) ||
      __builtin_mul_overflow(tiles, 4 * (t.streamed + a.rows + a.cols), &cycles)) {
    throw user_error("{} x {} x {} on a {} x {} array takes more cycles than fit 64 bits", g.m, g.n, g.k,
                     a.rows, a.cols);
  }
}

}  // namespace

Dataflow dataflow_from_name(std::string_view name) {
  for (const auto& [known, flow] : kFlows) {
    if (known == name) return flow;
  }
  throw user_error("dataflow is '{}', but must be ws, os or is", name);
}

std::string_view to_string(Dataflow flow) { return kFlows[static_cast<size_t>(flow)].first; }

Tiling tile(const Gemm& g, const ArrayShape& a, Dataflow flow) {
  check_extent("M", g.m, kLargestExtent);
  check_extent("N", g.n, kLargestExtent);
  check_extent("K", g.k, kLargestExtent);
  check_extent("rows", a.rows, kLargestArraySide);
  check_extent("cols", a.cols, kLargestArraySide);
  Tiling t;
  switch (flow) {
    case Dataflow::kWeightStationary:
      t = {ceil_div(g.k, a.rows), ceil_div(g.n, a.cols), g.m};
      break;
    case Dataflow::kOutputStationary:
      t = {ceil_div(g.m, a.rows), ceil_div(g.n, a.cols), g.k};
      break;
    case Dataflow::kInputStationary:
      t = {ceil_div(g.k, a.rows), ceil_div(g.m, a.cols), g.n};
      break;
  }
  check_count(g, a, t);
  return t;
}

Cycles array_cycles(const Gemm& g, const ArrayShape& a, Dataflow flow, Overlap overlap) {
  const Tiling t = tile(g, a, flow);
  // R cycles go before the stream (weights) or after it (sums); the latter count from the last sum, hence
  //
  const Cycles beside = flow == Dataflow::kOutputStationary ? a.rows - 1 : a.rows;
  const Cycles one_tile = beside + t.streamed + (a.rows - 1) + (a.cols - 1);
  if (overlap == Overlap::kNone) return t.tiles() * one_tile;
  return (t.tiles() - 1) * std::max(t.streamed, a.rows) + one_tile;
}

Cycles scalesim_cycles(const Gemm& g, const ArrayShape& a, Dataflow flow) {
  const Tiling t = tile(g, a, flow);
  const Cycles load = flow == Dataflow::kOutputStationary ? 0 : a.rows;
  return t.tiles() * (load + t.streamed + (a.cols - 1) + (a.rows - 1)) - 1;
}

double utilization(const Gemm& g, const ArrayShape& a, Cycles cycles) {
  const double done = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  return done / (static_cast<double>(cycles) * static_cast<double>(a.rows) * static_cast<double>(a.cols));
}

}  // namespace armillary::sim
