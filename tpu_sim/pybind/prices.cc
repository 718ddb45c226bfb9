// What single commands cost on one device of a chip.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include "tpu_sim/core/array_shares.h"
#include "tpu_sim/isa.h"
#include "tpu_sim/pybind/bind.h"
#include "xla_core/base/error.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace armillary::sim {
namespace {

DType multiplied(std::string_view name) {
  const auto dtype = dtype_from_name(name);
  if (dtype && (is_float(*dtype) || is_integer(*dtype)) && bit_width(*dtype) <= 32) return *dtype;
  throw user_error(
      "'{}' is no type that matrix units multiply; there are bf16, f32, s8, f8e4m3fn and the like", name);
}

// Sums are as wide as the operands, of integers 32 bits: what a dot gives unless asked otherwise.
double matmul_seconds(const Chip& chip, int64_t m, int64_t n, int64_t k, int64_t batch,
                      std::string_view operand, std::string_view result, int passes) {
  const Matmul matmul{.m = m,
                      .n = n,
                      .k = k,
                      .batch = batch,
                      .operand = multiplied(operand),
                      .result = multiplied(result),
                      .passes = passes};
  const Command command{{}, matmul_loop(matmul, choose_blocks(matmul, chip))};
  return estimate_seconds(command, chip);
}

double copy_seconds(const Chip& chip, int64_t bytes, bool from_vmem, bool to_vmem) {
  const auto space = [](bool vmem) { return vmem ? Space::kVmem : Space::kHbm; };
  return estimate_seconds({{}, Copy{.from = space(from_vmem), .to = space(to_vmem), .bytes = bytes}}, chip);
}

}  // namespace

void bind_prices(nb::module_& m) {
  m.def("matmul_seconds", matmul_seconds, "chip"_a, "m"_a, "n"_a, "k"_a, "batch"_a, "operand"_a, "result"_a,
        "passes"_a);
  m.def(
      "array_shares",
      [](const Chip& chip, int64_t vectors, int64_t cycles_per_vector, double non_matrix) {
        const ArrayShares s = array_shares(chip, vectors, cycles_per_vector, non_matrix);
        nb::dict out;
        out["active"] = s.active, out["shift"] = s.shift, out["stall"] = s.stall,
        out["non_matrix"] = s.non_matrix;
        return out;
      },
      "chip"_a, "vectors"_a, "cycles_per_vector"_a, "non_matrix"_a);
  m.def("copy_seconds", copy_seconds, "chip"_a, "bytes"_a, "from_vmem"_a, "to_vmem"_a);
}

}  // namespace armillary::sim
