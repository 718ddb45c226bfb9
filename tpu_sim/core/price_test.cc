#include "tpu_sim/core/price.h"

#include <gtest/gtest.h>

#include "tpu_sim/core/units.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

const Chip& v6e() { return find_chip("v6e"); }

TEST(FusedLoops, a_loop_is_launch_prologue_pipeline_and_epilogue) {
  const Device d(v6e());
  FusedLoop loop{.tiles = 10,
                 .tile = {.bytes_in = 1 << 20, .bytes_out = 1 << 20},
                 .prologue_bytes = 1 << 20,
                 .epilogue_bytes = 1 << 20};
  const Tick mib = hbm_ticks(1 << 20, 0, d);
  // Bound by memory: 22 MiB in all; the way in and out of the first and last tile shows.
  const Price p = price(loop, d);
  EXPECT_EQ(p.hbm, 22 * mib);
  EXPECT_GE(p.duration, d.op_launch + 22 * mib + d.dma_latency);
  EXPECT_LE(p.duration, d.op_launch + 22 * mib + 2 * (d.dma_latency + d.tile_step));
  EXPECT_EQ(p.bound, "dma");
  EXPECT_EQ(p.hbm_bytes, 22.0 * (1 << 20));
  EXPECT_EQ(p.mxu, 0);
}

TEST(FusedLoops, what_comes_once_makes_a_loop_bound_by_memory_too) {
  FusedLoop loop{.tiles = 4,
                 .tile = {.bytes_in = 1 << 18, .matrix = {{.m = 1024, .n = 1024, .k = 512}}},
                 .prologue_bytes = 1 << 25};
  const Price p = price(loop, Device(v6e()));
  EXPECT_GT(p.hbm, p.mxu);
  EXPECT_EQ(p.bound, "dma");
  loop.prologue_bytes = 0;
  EXPECT_EQ(price(loop, Device(v6e())).bound, "mxu");
}

TEST(FusedLoops, an_epilogue_is_free_until_the_vector_unit_is_the_slowest) {
  const Device d(v6e());
  FusedLoop loop{
      .tiles = 64,
      .tile = {.bytes_in = 1 << 20, .bytes_out = 1 << 20, .matrix = {{.m = 2048, .n = 2048, .k = 2048}}}};
  const Tick alone = price(loop, d).duration;
  loop.tile.vector[0] = 2048 * 2048;
  EXPECT_EQ(price(loop, d).duration, alone);
  loop.tile.vector[0] = int64_t{100} * 2048 * 2048;
  EXPECT_GT(price(loop, d).duration, alone);
  EXPECT_EQ(price(loop, d).bound, "vpu");
}

// A loop of more steps that does the work of fewer tiles.
TEST(FusedLoops, stages_work_side_by_side_once_tiles_fill_them) {
  const Device d(v6e());
  FusedLoop loop{.tiles = 8, .tile = {.matrix = {{.m = 512, .n = 2048, .k = 128}}}};
  loop.tile.vector[0] = 512 * 2048;
  const Price once = price(loop, d);
  loop.tiles = 10;
  const Tick longer = price(loop, d).duration;
  loop.tiles = 8, loop.stages = 3;
  const Price staged = price(loop, d);
  EXPECT_EQ(staged.duration, longer);
  EXPECT_EQ(staged.mxu, once.mxu);
  EXPECT_EQ(staged.vpu, once.vpu);
  EXPECT_THROW(price(FusedLoop{.stages = -1}, d), Error);
}

TEST(FusedLoops, a_tile_larger_than_vmem_is_refused) {
  EXPECT_THROW(price(FusedLoop{.vmem_bytes = (128 << 20) + 1}, Device(v6e())), Error);
  EXPECT_THROW(price(FusedLoop{.tiles = -1}, Device(v6e())), Error);
  EXPECT_THROW(price(FusedLoop{.buffers = 0}, Device(v6e())), Error);
}

TEST(Copies, small_ones_cost_latency_and_large_ones_bandwidth) {
  const Device d(v6e());
  const Price small = price(Copy{.bytes = 512}, d), large = price(Copy{.bytes = 1 << 30}, d);
  EXPECT_EQ(small.duration, d.op_launch + d.dma_latency + 2 * hbm_ticks(512, 0, d));
  EXPECT_EQ(small.bound, "latency");
  EXPECT_EQ(large.bound, "dma");
  EXPECT_EQ(price(Copy{.to = Space::kVmem, .bytes = 1 << 30}, d).hbm * 2, large.hbm);
  EXPECT_EQ(price(Copy{.from = Space::kVmem, .to = Space::kVmem, .bytes = 1 << 30}, d).hbm, 0);
}

TEST(IndexedAccess, rows_cost_their_index_or_their_bytes_and_a_combiner_waits_for_each) {
  const Device d(v6e());
  const auto time = [&](int64_t rows, int64_t row_bytes, bool adds) {
    return price(IndexedAccess{rows, row_bytes, adds}, d).duration - d.op_launch - 2 * d.dma_latency;
  };
  EXPECT_EQ(time(1000, 512, false), 1000 * d.row_access);
  EXPECT_EQ(time(1000, 1 << 20, false), 1000 * 2 * hbm_ticks(1 << 20, 0, d));
  EXPECT_GT(time(1000, 512, true), 1000 * 2 * d.dma_latency);
  EXPECT_EQ(time(0, 512, false), 0);
}

TEST(Serial, steps_are_slow) {
  const Device d(v6e());
  EXPECT_GT(price(Serial{.steps = 1'000'000}, d).duration, 1'000'000 * static_cast<Tick>(d.ticks_per_cycle));
  EXPECT_EQ(price(Serial{.steps = 1'000'000}, d).bound, "scalar");
}

TEST(Estimates, loops_and_branches_add_up) {
  const Command copy{{"copy"}, Copy{.bytes = 1 << 20}};
  const double once = estimate_seconds(copy, v6e()), turn = v6e()["tile_step_ns"] * 1e-9;
  const Command loop{{"while"}, Loop{10, {copy, copy}}};
  EXPECT_NEAR(estimate_seconds(loop, v6e()), 10 * (turn + 2 * once), 1e-12);
  const Command choice{{"conditional"}, Conditional{{{}, {copy}, {copy, copy}}, -1}};
  EXPECT_NEAR(estimate_seconds(choice, v6e()), turn + 2 * once, 1e-12);
  EXPECT_EQ(estimate_seconds({{"start"}, CollectiveStart{}}, v6e()), 0);
  EXPECT_THROW(estimate_seconds({{"conditional"}, Conditional{{{}}, 3}}, v6e()), Error);
}

TEST(Matmuls, blocks_fit_vmem_cover_the_product_and_move_what_they_must) {
  for (const char* name : {"v2", "v5e", "v6e", "v7x"}) {
    const Chip& chip = find_chip(name);
    for (const Matmul& p :
         {Matmul{.m = 8192, .n = 8192, .k = 8192}, Matmul{.m = 1, .n = 4096, .k = 4096},
          Matmul{.m = 129, .n = 129, .k = 129, .operand = DType::kF32, .result = DType::kF32},
          Matmul{.m = 128, .n = 128, .k = 64, .batch = 1000}, Matmul{.m = 8, .n = 8, .k = 1 << 20}}) {
      const MatmulBlocks b = choose_blocks(p, chip);
      const FusedLoop loop = matmul_loop(p, b);
      EXPECT_LE(loop.vmem_bytes, Device(chip).vmem_bytes) << name;
      const MatrixWork& work = loop.tile.matrix.at(0);
      EXPECT_GE(loop.tiles * work.count * work.m * work.n * work.k, p.batch * p.m * p.n * p.k) << name;
      const int64_t a = p.batch * p.m * p.k * bit_width(p.operand) / 8,
                    c = p.batch * p.m * p.n * bit_width(p.result) / 8;
      EXPECT_GE(loop.prologue_bytes + loop.tiles * loop.tile.bytes_in, a) << name;
      EXPECT_GE(loop.epilogue_bytes + loop.tiles * loop.tile.bytes_out, c) << name;
      EXPECT_GT(estimate_seconds({{"dot"}, loop}, chip), 0) << name;
    }
  }
}

TEST(Streams, are_cut_into_tiles_that_fit_and_hide_each_others_way) {
  const Device d(v6e());
  Tile whole{.bytes_in = 1 << 30, .bytes_out = 1 << 30};
  whole.vector[0] = 1 << 28;
  const FusedLoop loop = stream_loop(whole, v6e());
  EXPECT_GT(loop.tiles, 16);
  EXPECT_LE(loop.vmem_bytes, d.vmem_bytes);
  EXPECT_NEAR(static_cast<double>(price(loop, d).duration),
              static_cast<double>(hbm_ticks(int64_t{2} << 30, 0, d)), 1e8);
  EXPECT_EQ(stream_loop({.bytes_in = 4096, .bytes_out = 4096}, v6e()).tiles, 1);
  EXPECT_EQ(stream_loop({}, v6e()).tiles, 1);
  EXPECT_LE(stream_loop(whole, v6e(), 1 << 16).vmem_bytes, 1 << 16);
  EXPECT_THROW(stream_loop({.bytes_in = -1}, v6e()), Error);
}

TEST(Matmuls, a_smaller_budget_makes_smaller_blocks_and_none_is_refused) {
  Matmul p{.m = 8192, .n = 8192, .k = 8192, .vmem_budget = 16 << 20};
  EXPECT_LE(matmul_loop(p, choose_blocks(p, v6e())).vmem_bytes, 16 << 20);
  p.vmem_budget = 1024;
  EXPECT_THROW(choose_blocks(p, v6e()), Error);
  EXPECT_THROW(choose_blocks(Matmul{.m = 0, .n = 1, .k = 1}, v6e()), Error);
}

}  // namespace
}  // namespace armillary::sim
