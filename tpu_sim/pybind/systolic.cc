// The systolic array: counts, and products computed in it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tpu_sim/pybind/bind.h"
#include "tpu_sim/systolic/cycles.h"
#include "tpu_sim/systolic/grid.h"
#include "xla_core/base/error.h"

namespace nb = nanobind;

namespace armillary::sim {
namespace {

template <class T>
using Matrix = nb::ndarray<nb::numpy, T, nb::ndim<2>>;
template <class T>
using Input = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The grid visits every element in every cycle; beyond this it takes minutes.
constexpr double kMostVisits = 1e11;

void check_grid_cost(const Gemm& gemm, const ArrayShape& array, Dataflow flow, Overlap overlap) {
  const double visits = static_cast<double>(array_cycles(gemm, array, flow, overlap)) *
                        static_cast<double>(array.rows) * static_cast<double>(array.cols);
  if (visits > kMostVisits) {
    throw resource_error(
        "the grid would visit its elements {:.2g} times, more than {:.0e}: take a smaller product, or"
        " mode tpu or scalesim, which count without it",
        visits, kMostVisits);
  }
}

Cycles count(const Gemm& gemm, const ArrayShape& array, std::string_view dataflow, std::string_view mode) {
  const Dataflow flow = dataflow_from_name(dataflow);
  if (mode == "scalesim") return scalesim_cycles(gemm, array, flow);
  if (mode == "tpu") return array_cycles(gemm, array, flow, Overlap::kTiles);
  if (mode != "grid") throw user_error("mode is '{}', but must be scalesim, tpu or grid", mode);
  check_grid_cost(gemm, array, flow, Overlap::kNone);
  nb::gil_scoped_release released;
  const std::vector<int8_t> a(gemm.m * gemm.k, 1), b(gemm.k * gemm.n, 1);
  return run_grid<int8_t, int32_t>(gemm, array, flow, Overlap::kNone, a, b).cycles;
}

// `T` is what lies in memory; bf16 comes as its 16 bits.
template <class T, class Sum, class Bits = T>
std::pair<Matrix<Sum>, Cycles> multiply(Input<Bits> a, Input<Bits> b, const ArrayShape& array,
                                        std::string_view dataflow, bool overlap) {
  if (a.shape(1) != b.shape(0)) {
    throw user_error("a is {} x {} and b is {} x {}: their inner extents differ", a.shape(0), a.shape(1),
                     b.shape(0), b.shape(1));
  }
  const Gemm gemm{static_cast<int64_t>(a.shape(0)), static_cast<int64_t>(b.shape(1)),
                  static_cast<int64_t>(a.shape(1))};
  const Dataflow flow = dataflow_from_name(dataflow);
  const Overlap follow = overlap ? Overlap::kTiles : Overlap::kNone;
  check_grid_cost(gemm, array, flow, follow);
  auto result = std::make_unique<GridResult<Sum>>();
  {
    nb::gil_scoped_release released;
    const auto span = [](const Input<Bits>& x) {
      return std::span(reinterpret_cast<const T*>(x.data()), x.size());
    };
    *result = run_grid<T, Sum>(gemm, array, flow, follow, span(a), span(b));
  }
  const Cycles cycles = result->cycles;
  Sum* values = result->values.data();
  const nb::capsule owner(result.release(),
                          [](void* p) noexcept { delete static_cast<GridResult<Sum>*>(p); });
  return {Matrix<Sum>(values, {a.shape(0), b.shape(1)}, owner), cycles};
}

template <class T, class Sum, class Bits = T>
void bind_multiply(nb::module_& m, const char* name) {
  m.def(
      name,
      [](Input<Bits> a, Input<Bits> b, int64_t rows, int64_t cols, std::string_view dataflow, bool overlap) {
        return multiply<T, Sum, Bits>(a, b, {rows, cols}, dataflow, overlap);
      },
      nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("rows"), nb::arg("cols"),
      nb::arg("dataflow"), nb::arg("overlap"));
}

}  // namespace

void bind_systolic(nb::module_& m) {
  m.def(
      "systolic_cycles",
      [](int64_t M, int64_t N, int64_t K, int64_t rows, int64_t cols, std::string_view dataflow,
         std::string_view mode) { return count({M, N, K}, {rows, cols}, dataflow, mode); },
      nb::arg("M"), nb::arg("N"), nb::arg("K"), nb::arg("rows"), nb::arg("cols"), nb::arg("dataflow"),
      nb::arg("mode"));
  bind_multiply<float, float>(m, "multiply_f32");
  bind_multiply<Bf16, float, uint16_t>(m, "multiply_bf16");
  bind_multiply<int8_t, int32_t>(m, "multiply_s8");
}

}  // namespace armillary::sim
