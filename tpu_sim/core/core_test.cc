#include "tpu_sim/core/core.h"

#include <gtest/gtest.h>

#include <random>

#include "tpu_sim/core/price.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

FusedLoop random_loop(std::mt19937& random) {
  const auto upto = [&](int bits) {
    return random() % 3 == 0 ? 0 : static_cast<int64_t>(random() % (1u << random() % bits));
  };
  FusedLoop loop;
  loop.tiles = static_cast<int64_t>(random() % 40);
  loop.prologue_bytes = upto(24), loop.epilogue_bytes = upto(24);
  loop.buffers = 1 + static_cast<int>(random() % 4);
  loop.stages = 1 + static_cast<int>(random() % 3);
  Tile& tile = loop.tile;
  tile.bytes_in = upto(24), tile.bytes_out = upto(24);
  tile.run_in = upto(12);
  for (int i = static_cast<int>(random() % 3); i > 0; --i) {
    tile.matrix.push_back(
        {.m = upto(10), .n = upto(10), .k = upto(10), .count = 1 + upto(3), .passes = random() % 2 ? 1 : 6});
  }
  for (int64_t& elements : tile.vector) elements = upto(22);
  tile.transpose = {upto(20), upto(20), upto(20)};
  tile.scalar_ops = upto(10);
  return loop;
}

TEST(Core, a_loop_run_tile_by_tile_takes_what_its_price_says) {
  const char* names[] = {"v2", "v3", "v4", "v5e", "v5p", "v6e", "v7x"};
  for (unsigned seed = 0; seed < 5000; ++seed) {
    std::mt19937 random(seed);
    const Device device(find_chip(names[random() % std::size(names)]));
    const FusedLoop loop = random_loop(random);
    const Price p = price(loop, device);
    Core core(device);
    ASSERT_EQ(core.issue(loop, 1000), 1000 + p.duration) << "seed " << seed;
    EXPECT_EQ(core.dma().busy(), p.hbm) << "seed " << seed;
  }
}

TEST(Core, the_next_command_waits_for_the_core) {
  const Device device(find_chip("v5e"));
  const FusedLoop loop{.tiles = 3, .tile = {.bytes_in = 1 << 20, .bytes_out = 1 << 20}};
  Core core(device);
  const Tick once = core.issue(loop, 0);
  EXPECT_EQ(core.ready(0), once);
  EXPECT_EQ(core.issue(loop, 0), 2 * once);
  EXPECT_GE(core.unit(Unit::kLoadStore).busy(), 6 * load_store_ticks(2 << 20, device));
}

TEST(Dma, is_over_a_latency_after_the_memory_has_served_it) {
  const Device device(find_chip("v5e"));
  Dma dma(device);
  const Tick mib = hbm_ticks(1 << 20, 0, device);
  EXPECT_EQ(dma.issue_bytes(1 << 20, 0, 100), 100 + mib + device.dma_latency);
  EXPECT_EQ(dma.ready(100), 100 + mib);  // the latency does not keep the memory
  EXPECT_EQ(dma.issue_bytes(1 << 20, 0, 100), 100 + 2 * mib + device.dma_latency);
}

TEST(Core, what_cannot_be_is_refused) {
  const Device device(find_chip("v5e"));
  Core core(device);
  EXPECT_THROW(core.issue({.tiles = 1 << 30}, 0), Error);
  EXPECT_THROW(core.issue({.tile = {.bytes_in = -1}}, 0), Error);
  EXPECT_THROW(core.issue({.tile = {.bytes_in = INT64_MAX, .bytes_out = INT64_MAX}}, 0), Error);
}

}  // namespace
}  // namespace armillary::sim
