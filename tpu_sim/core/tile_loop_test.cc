#include "tpu_sim/core/tile_loop.h"

#include <gtest/gtest.h>

#include <random>

#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

TileLoop random_loop(unsigned seed) {
  std::mt19937 random(seed);
  auto time = [&] { return random() % 4 == 0 ? 0 : static_cast<int64_t>(random() % 50); };
  TileLoop loop;
  loop.tiles = static_cast<int64_t>(random() % 40);
  loop.dma_in = time();
  for (int64_t& t : loop.work) t = time();
  loop.dma_out = time();
  loop.double_buffered = random() % 3 != 0;
  return loop;
}

TEST(TileLoop, recurrence_equals_the_event_run_on_random_loops) {
  for (unsigned seed = 0; seed < 5000; ++seed) {
    const TileLoop loop = random_loop(seed);
    ASSERT_EQ(loop_time(loop).total(), simulate_loop(loop)) << "random_loop(" << seed << ")";
  }
}

TEST(TileLoop, the_slowest_stage_sets_the_pace_and_is_named) {
  const LoopTime matmul = loop_time({100, 10, {25, 5, 0, 3}, 8});
  EXPECT_EQ(matmul.prologue, 10);
  EXPECT_EQ(matmul.steady, 2500);
  EXPECT_EQ(matmul.epilogue, 8);
  EXPECT_EQ(matmul.bound, "mxu");
  const LoopTime copy = loop_time({100, 10, {0, 1, 0, 2}, 8});
  EXPECT_EQ(copy.total(), 1000 + 2 + 8);
  EXPECT_EQ(copy.bound, "dma in");
}

TEST(TileLoop, single_buffers_add_what_double_buffers_hide) {
  TileLoop loop{10, 7, {9, 0, 0, 0}, 3};
  EXPECT_EQ(loop_time(loop).total(), 7 + 10 * 9 + 3);
  loop.double_buffered = false;
  EXPECT_EQ(loop_time(loop).total(), 10 * (9 + 7) + 3);
}

TEST(TileLoop, no_tiles_take_no_time) { EXPECT_EQ(loop_time({}).total(), 0); }

TEST(TileLoop, what_cannot_be_is_refused) {
  EXPECT_THROW(loop_time({1, -1, {}, 0}), Error);
  EXPECT_THROW(loop_time({int64_t{1} << 59, 100, {}, 0}), Error);
  EXPECT_THROW(simulate_loop({int64_t{1} << 40, 1, {}, 0}), Error);
}

}  // namespace
}  // namespace armillary::sim
