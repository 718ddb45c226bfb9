#include "tpu_sim/systolic/grid.h"

#include "tpu_sim/systolic/moving_sums.h"
#include "tpu_sim/systolic/resting_sums.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

// Beyond this a run takes hours, or the result more memory than a test machine has.
constexpr int64_t kLargestElements = int64_t{1} << 28;

// All extents are positive and at most 2^40 (tile() has checked), so only the product may overflow.
void check_matrix(std::string_view name, int64_t rows, int64_t cols, int64_t size) {
  int64_t elements = 0;
  if (__builtin_mul_overflow(rows, cols, &elements) || elements > kLargestElements) {
    throw user_error("{} is {} x {}: a simulated grid takes at most {} elements", name, rows, cols,
                     kLargestElements);
  }
  if (size >= 0 && size != elements) {
    throw user_error("{} has {} elements, but {} x {} needs {}", name, size, rows, cols, elements);
  }
}

}  // namespace

template <class T, class Sum>
GridResult<Sum> run_grid(const Gemm& g, const ArrayShape& array, Dataflow flow, Overlap overlap,
                         std::span<const T> a, std::span<const T> b) {
  const Tiling tiling = tile(g, array, flow);
  check_matrix("A", g.m, g.k, static_cast<int64_t>(a.size()));
  check_matrix("B", g.k, g.n, static_cast<int64_t>(b.size()));
  check_matrix("C", g.m, g.n, -1);
  check_matrix("the array", array.rows, array.cols, -1);
  GridResult<Sum> result;
  result.values.assign(g.m * g.n, Sum{});
  auto finish = [&](auto&& engine) {
    result.cycles = engine.run();
    result.multiplications = engine.multiplications();
  };
  switch (flow) {
    case Dataflow::kWeightStationary:
      finish(MovingSumsArray<T, Sum>(array, tiling, overlap, {a.data(), g.m, g.k}, {b.data(), g.k, g.n},
                                     result.values));
      break;
    case Dataflow::kOutputStationary:
      finish(RestingSumsArray<T, Sum>(array, tiling, overlap, {a.data(), g.m, g.k}, {b.data(), g.k, g.n},
                                      result.values));
      break;
    case Dataflow::kInputStationary: {
      // C' = B' A': the array computes the transpose, N x M.
      std::vector<Sum> transposed(g.m * g.n, Sum{});
      finish(MovingSumsArray<T, Sum>(array, tiling, overlap, {b.data(), g.n, g.k, true},
                                     {a.data(), g.k, g.m, true}, transposed));
      for (int64_t m = 0; m < g.m; ++m) {
        for (int64_t n = 0; n < g.n; ++n) result.values[m * g.n + n] = transposed[n * g.m + m];
      }
      break;
    }
  }
  return result;
}

template GridResult<float> run_grid(const Gemm&, const ArrayShape&, Dataflow, Overlap, std::span<const float>,
                                    std::span<const float>);
template GridResult<float> run_grid(const Gemm&, const ArrayShape&, Dataflow, Overlap, std::span<const Bf16>,
                                    std::span<const Bf16>);
template GridResult<int32_t> run_grid(const Gemm&, const ArrayShape&, Dataflow, Overlap,
                                      std::span<const int8_t>, std::span<const int8_t>);

}  // namespace armillary::sim
