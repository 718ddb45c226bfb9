#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <random>

#include "tpu_sim/systolic/cycles.h"
#include "tpu_sim/systolic/grid.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr std::array kFlows = {Dataflow::kWeightStationary, Dataflow::kOutputStationary,
                               Dataflow::kInputStationary};
constexpr std::array kOverlaps = {Overlap::kNone, Overlap::kTiles};

struct Case {
  Gemm gemm;
  ArrayShape array;
};

Case random_case(unsigned seed) {
  std::mt19937 random(seed);
  auto upto = [&](int64_t largest) { return 1 + static_cast<int64_t>(random() % largest); };
  return {{upto(24), upto(24), upto(24)}, {upto(9), upto(9)}};
}

// A few hundred shapes by default; ARMILLARY_SYSTOLIC_SHAPES=2000 for all.
unsigned shapes() {
  const char* text = std::getenv("ARMILLARY_SYSTOLIC_SHAPES");
  return text ? static_cast<unsigned>(std::atoi(text)) : 300;
}

template <class T>
std::vector<T> random_matrix(std::mt19937& random, int64_t elements) {
  std::vector<T> out(elements);
  for (T& x : out) {
    if constexpr (std::is_same_v<T, float>) {
      x = std::normal_distribution<float>()(random);
    } else if constexpr (std::is_same_v<T, Bf16>) {
      x.bits = std::bit_cast<uint32_t>(std::normal_distribution<float>()(random)) >> 16;
    } else {
      x = static_cast<T>(random());
    }
  }
  return out;
}

double number(float x) { return x; }
double number(Bf16 x) { return x.value(); }
double number(int8_t x) { return x; }

// Compares with sums in f64; `roundings` is the error allowed, in units of f32's last place of the largest
// sum.
template <class T, class Sum>
void check_values(const Case& c, Dataflow flow, Overlap overlap, unsigned seed, double roundings) {
  std::mt19937 random(seed);
  const auto a = random_matrix<T>(random, c.gemm.m * c.gemm.k),
             b = random_matrix<T>(random, c.gemm.k * c.gemm.n);
  const auto result = run_grid<T, Sum>(c.gemm, c.array, flow, overlap, a, b);
  ASSERT_EQ(result.cycles, array_cycles(c.gemm, c.array, flow, overlap));
  for (int64_t m = 0; m < c.gemm.m; ++m) {
    for (int64_t n = 0; n < c.gemm.n; ++n) {
      double sum = 0, size = 0;
      for (int64_t k = 0; k < c.gemm.k; ++k) {
        const double product = number(a[m * c.gemm.k + k]) * number(b[k * c.gemm.n + n]);
        sum += product;
        size += std::abs(product);
      }
      ASSERT_NEAR(static_cast<double>(result.values[m * c.gemm.n + n]), sum, roundings * size * 0x1p-24);
    }
  }
}

TEST(Systolic, closed_forms_equal_the_grid_and_its_values_are_right_on_random_shapes) {
  for (unsigned seed = 0; seed < shapes(); ++seed) {
    const Case c = random_case(seed);
    SCOPED_TRACE(fmt::format("random_case({}): {} x {} x {} on {} x {}", seed, c.gemm.m, c.gemm.n, c.gemm.k,
                             c.array.rows, c.array.cols));
    for (Dataflow flow : kFlows) {
      for (Overlap overlap : kOverlaps) {
        SCOPED_TRACE(fmt::format("{}, overlap {}", to_string(flow), static_cast<int>(overlap)));
        check_values<int8_t, int32_t>(c, flow, overlap, seed, 0);
        if (HasFatalFailure()) return;
        if (seed % 2) continue;
        check_values<float, float>(c, flow, overlap, seed, static_cast<double>(c.gemm.k) + 2);
        check_values<Bf16, float>(c, flow, overlap, seed, static_cast<double>(c.gemm.k) + 2);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Systolic, one_by_one_arrays_and_one_by_one_matrices_work) {
  for (Dataflow flow : kFlows) {
    for (Overlap overlap : kOverlaps) {
      check_values<int8_t, int32_t>({{1, 1, 1}, {1, 1}}, flow, overlap, 1, 0);
      check_values<int8_t, int32_t>({{5, 4, 3}, {1, 1}}, flow, overlap, 1, 0);
      check_values<int8_t, int32_t>({{1, 1, 1}, {7, 3}}, flow, overlap, 1, 0);
      check_values<int8_t, int32_t>({{3, 9, 2}, {1, 6}}, flow, overlap, 1, 0);
      check_values<int8_t, int32_t>({{3, 9, 2}, {6, 1}}, flow, overlap, 1, 0);
    }
  }
}

TEST(Systolic, int32_sums_wrap) {
  const std::vector<int8_t> a(140000, -128), b(140000, -128);
  const auto result =
      run_grid<int8_t, int32_t>({1, 1, 140000}, {1, 1}, Dataflow::kOutputStationary, Overlap::kTiles, a, b);
  EXPECT_EQ(result.values[0], static_cast<int32_t>(uint32_t{140000} * 16384u));
}

TEST(Systolic, every_element_multiplies_once_for_every_vector_even_in_partial_tiles) {
  const std::vector<int8_t> a(15, 1), b(15, 1);
  const auto result =
      run_grid<int8_t, int32_t>({3, 3, 5}, {4, 2}, Dataflow::kWeightStationary, Overlap::kNone, a, b);
  EXPECT_EQ(result.multiplications, 2 * 2 * 3 * 4 * 2);
}

TEST(Systolic, scalesim_counts_from_zero_and_leaves_out_the_shifting_of_resting_sums) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const Case c = random_case(seed);
    for (Dataflow flow : kFlows) {
      const Cycles shifting =
          flow == Dataflow::kOutputStationary ? tile(c.gemm, c.array, flow).tiles() * (c.array.rows - 1) : 0;
      EXPECT_EQ(scalesim_cycles(c.gemm, c.array, flow),
                array_cycles(c.gemm, c.array, flow, Overlap::kNone) - shifting - 1);
    }
  }
}

TEST(Systolic, long_streams_hide_weights_fill_and_drain) {
  const Gemm gemm{8192, 1024, 512};
  const Cycles cycles = array_cycles(gemm, {128, 128}, Dataflow::kWeightStationary, Overlap::kTiles);
  EXPECT_EQ(cycles, 32 * 8192 + 128 + 127 + 127);
  EXPECT_GT(utilization(gemm, {128, 128}, cycles), 0.998);
}

TEST(Systolic, a_single_row_shows_every_weight_load) {
  EXPECT_EQ(array_cycles({1, 4096, 4096}, {128, 128}, Dataflow::kWeightStationary, Overlap::kTiles),
            1023 * 128 + 128 + 1 + 127 + 127);
}

void expect_error(const Gemm& gemm, const ArrayShape& array, std::string_view part) {
  try {
    array_cycles(gemm, array, Dataflow::kWeightStationary, Overlap::kTiles);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kUser);
    EXPECT_NE(e.message().find(part), std::string::npos) << e.message();
  }
}

TEST(Systolic, bad_shapes_are_refused_with_their_names) {
  expect_error({0, 1, 1}, {1, 1}, "M is 0");
  expect_error({1, 1, -5}, {1, 1}, "K is -5");
  expect_error({1, 1, 1}, {0, 1}, "rows is 0");
  expect_error({int64_t{1} << 40, int64_t{1} << 40, int64_t{1} << 40}, {1, 1}, "64 bits");
  expect_error({INT64_MAX, 1, 1}, {1, 1}, "M is 9223372036854775807");
  EXPECT_THROW(dataflow_from_name("rs"), Error);
  const std::vector<float> a(5), b(6);
  EXPECT_THROW((run_grid<float, float>({2, 2, 3}, {2, 2}, Dataflow::kWeightStationary, Overlap::kNone, a, b)),
               Error);
}

}  // namespace
}  // namespace armillary::sim
