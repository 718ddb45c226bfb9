#include "tpu_sim/core/units.h"

#include <gtest/gtest.h>

#include <random>

#include "tpu_sim/systolic/cycles.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

// A device with one array whose cycle is 1000 ticks, so that ticks can be counted in cycles.
Device one_array(int64_t rows, int64_t cols, int64_t units = 1) {
  Device device(find_chip("v1"));
  const double cycle = device.ticks_per_row(DType::kS8);
  EXPECT_NEAR(cycle, 1e3 / 0.7, 5);
  device.mxu_rows = rows, device.mxu_cols = cols, device.mxus = units;
  return device;
}

double cycles(Tick ticks, const Device& device) {
  return static_cast<double>(ticks) / device.ticks_per_row(DType::kS8);
}

TEST(Server, issue_returns_the_end_and_ready_does_not_book) {
  Server server;
  EXPECT_EQ(server.ready(5), 5);
  EXPECT_EQ(server.issue(10, 5), 15);
  EXPECT_EQ(server.ready(7), 15);
  EXPECT_EQ(server.ready(7), 15);
  EXPECT_EQ(server.issue(1, 7), 16);
  EXPECT_EQ(server.busy(), 11);
}

// One unit, and its fill: what the closed form of the grid of processing elements says, which equals the
// grid.
TEST(MatrixUnits, a_product_on_one_unit_takes_what_the_array_takes) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    const int64_t rows = 8 << random() % 6, cols = 8 << random() % 6;
    const Device device = one_array(rows, cols);
    // Rows stream in eights, and at least as many as the array has.
    const int64_t m = std::max<int64_t>(rows, 8 * (1 + static_cast<int64_t>(random() % 100)));
    const int64_t n = 1 + static_cast<int64_t>(random() % 500), k = 1 + static_cast<int64_t>(random() % 500);
    const Tick ticks = matrix_ticks({.m = m, .n = n, .k = k, .type = DType::kS8}, device) +
                       matrix_fill_ticks(DType::kS8, device);
    const Cycles array = array_cycles({m, n, k}, {rows, cols}, Dataflow::kWeightStationary, Overlap::kTiles);
    ASSERT_NEAR(cycles(ticks, device), static_cast<double>(array), 0.01) << "seed " << seed;
  }
}

TEST(MatrixUnits, few_rows_cost_as_much_as_the_weights_need_to_move_in) {
  const Device device = one_array(128, 128);
  const auto time = [&](int64_t m) {
    return matrix_ticks({.m = m, .n = 4096, .k = 4096, .type = DType::kS8}, device);
  };
  EXPECT_EQ(time(1), time(128));
  EXPECT_NEAR(cycles(time(1), device), 32 * 32 * 128, 0.01);
  EXPECT_NEAR(cycles(time(129), device), 32 * 32 * 136, 0.01);
}

TEST(MatrixUnits, units_share_weight_tiles_and_where_there_are_fewer_the_rows) {
  const Device two = one_array(128, 128, 2);
  const auto time = [&](int64_t m, int64_t n) {
    return cycles(matrix_ticks({.m = m, .n = n, .k = 128, .type = DType::kS8}, two), two);
  };
  EXPECT_NEAR(time(1024, 256), 1024, 0.01);
  EXPECT_NEAR(time(1024, 384), 2048, 0.01);  // three tiles on two units
  EXPECT_NEAR(time(1024, 128), 512, 0.01);   // one tile: half of the rows each
  EXPECT_NEAR(time(128, 128), 128, 0.01);    // but no fewer than the array has
}

TEST(MatrixUnits, passes_and_types_cost_what_the_row_says) {
  const Device v6e(find_chip("v6e"));
  const auto time = [&](DType type, int passes) {
    return static_cast<double>(
        matrix_ticks({.m = 4096, .n = 4096, .k = 4096, .type = type, .passes = passes}, v6e));
  };
  EXPECT_NEAR(time(DType::kBF16, 6) / time(DType::kBF16, 1), 6, 1e-6);
  EXPECT_NEAR(time(DType::kS8, 1) / time(DType::kBF16, 1), 0.5, 1e-6);
  EXPECT_EQ(time(DType::kF32, 1), time(DType::kBF16, 1));
  // The achieved rate is the stated peak times the efficiency.
  const double flops = 2.0 * 4096 * 4096 * 4096, peak = find_chip("v6e")["peak_bf16_flops"];
  EXPECT_NEAR(flops / (time(DType::kBF16, 1) / kTicksPerSecond), peak * find_chip("v6e")["mxu_efficiency"],
              1e-4 * peak);
}

TEST(VectorUnit, all_slots_share_the_arithmetic_and_one_takes_transcendental_functions) {
  const Device v5e(find_chip("v5e"));  // two slots
  const auto time = [&](VectorOp op, int64_t elements) {
    VectorWork work{};
    work[static_cast<size_t>(op)] = elements;
    return static_cast<double>(vector_ticks(work, v5e)) / v5e.ticks_per_cycle;
  };
  EXPECT_NEAR(time(VectorOp::kArithmetic, 1024 * 1000), 500, 0.01);
  EXPECT_NEAR(time(VectorOp::kArithmetic, 1), 1, 0.01);
  EXPECT_NEAR(time(VectorOp::kTranscendental, 1024 * 1000), 2000, 0.01);
  EXPECT_EQ(time(VectorOp::kSelect, 0), 0);
}

TEST(TransposeUnit, registers_pass_the_units_side_by_side) {
  const Device v6e(find_chip("v6e"));  // two of them
  const auto time = [&](const TransposeWork& work) {
    return static_cast<double>(transpose_ticks(work, v6e)) / v6e.ticks_per_cycle;
  };
  EXPECT_NEAR(time({.transposed = 1024 * 100}), 50, 0.01);
  EXPECT_NEAR(time({.reduced = 1024 * 100}), 100, 0.01);
  EXPECT_NEAR(time({.permuted = 1}), 1, 0.01);
}

TEST(LoadStore, three_registers_move_a_cycle) {
  const Device v6e(find_chip("v6e"));
  EXPECT_NEAR(static_cast<double>(load_store_ticks(3 * 4096 * 100, v6e)) / v6e.ticks_per_cycle, 100, 0.01);
}

TEST(Hbm, large_transfers_reach_the_plateau_and_short_runs_pay_for_whole_bursts) {
  const Device v5e(find_chip("v5e"));
  const Chip& row = find_chip("v5e");
  const double plateau = row["hbm_bytes_per_s"] * row["hbm_efficiency"] / kTicksPerSecond;
  EXPECT_NEAR(static_cast<double>(hbm_ticks(1 << 30, 0, v5e)), (1 << 30) / plateau, 1);
  EXPECT_EQ(hbm_ticks(1 << 30, 512, v5e), hbm_ticks(1 << 30, 0, v5e));
  EXPECT_NEAR(static_cast<double>(hbm_ticks(1 << 30, 128, v5e)), 4.0 * (1 << 30) / plateau, 1);
  EXPECT_NEAR(static_cast<double>(hbm_ticks(768 << 20, 768, v5e)), (1 << 30) / plateau, 1);
}

TEST(Units, what_cannot_be_is_refused) {
  const Device v5e(find_chip("v5e"));
  EXPECT_THROW(matrix_ticks({.m = -1, .n = 1, .k = 1}, v5e), Error);
  EXPECT_THROW(matrix_ticks({.m = 1, .n = 1, .k = 1, .passes = 0}, v5e), Error);
  EXPECT_THROW(matrix_ticks({.m = INT64_MAX, .n = INT64_MAX, .k = INT64_MAX}, v5e), Error);
  EXPECT_THROW(vector_ticks({-1}, v5e), Error);
  EXPECT_THROW(hbm_ticks(-1, 0, v5e), Error);
  EXPECT_THROW(scalar_ticks(INT64_MAX, v5e), Error);
}

}  // namespace
}  // namespace armillary::sim
