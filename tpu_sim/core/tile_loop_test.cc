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
  loop.latency = time() * static_cast<int64_t>(random() % 4);
  loop.buffers = 1 + static_cast<int>(random() % 4);
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
}

// What comes in and what goes out share the memory, and nothing else takes longer.
TEST(TileLoop, a_copy_takes_as_long_as_its_bytes_both_ways) {
  const LoopTime copy = loop_time({100, 10, {0, 1, 0, 2}, 8});
  EXPECT_EQ(copy.total(), 100 * (10 + 8));
  EXPECT_EQ(copy.bound, "dma");
}

TEST(TileLoop, single_buffers_add_what_double_buffers_hide) {
  TileLoop loop{10, 4, {9, 0, 0, 0}, 3};
  EXPECT_EQ(loop_time(loop).total(), 4 + 10 * 9 + 3);
  loop.buffers = 1;
  EXPECT_EQ(loop_time(loop).total(), 10 * (9 + 4 + 3));
}

TEST(TileLoop, latency_shows_once_where_work_hides_it_and_with_every_round_of_buffers_where_not) {
  EXPECT_EQ(loop_time({10, 1, {100, 0, 0, 0}, 1, 50}).total(), 1 + 50 + 10 * 100 + 1 + 50);
  const LoopTime slow = loop_time({11, 1, {8, 0, 0, 0}, 1, 90});
  EXPECT_EQ(slow.total(), 1 + 90 + 8 + 5 * (1 + 1 + 90 + 8) + 1 + 90);  // two tiles a round
  EXPECT_EQ(slow.bound, "latency");
}

TEST(TileLoop, no_tiles_take_no_time) { EXPECT_EQ(loop_time({}).total(), 0); }

TEST(TileLoop, what_cannot_be_is_refused) {
  EXPECT_THROW(loop_time({1, -1, {}, 0}), Error);
  EXPECT_THROW(loop_time({int64_t{1} << 56, 1000, {}, 0}), Error);
  EXPECT_THROW(loop_time({1, 1, {}, 1, 0, 0}), Error);
  EXPECT_THROW(simulate_loop({int64_t{1} << 40, 1, {}, 0}), Error);
}

}  // namespace
}  // namespace armillary::sim
