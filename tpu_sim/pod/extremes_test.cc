// Programs of extreme numbers: a finite time or an error of one line, nothing else.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "tpu_sim/pod.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

unsigned programs() {
  const char* text = std::getenv("ARMILLARY_EXTREME_PROGRAMS");
  return text ? static_cast<unsigned>(std::atoi(text)) : 2000;
}

class Extremes {
 public:
  explicit Extremes(unsigned seed) : random_(seed) {}

  std::vector<Command> commands(int depth) {
    std::vector<Command> out;
    for (int i = static_cast<int>(random_() % 5); i >= 0; --i) out.push_back(command(depth));
    return out;
  }

 private:
  // Mostly sensible, sometimes anything.
  int64_t number() {
    switch (random_() % 12) {
      case 0:
        return 0;
      case 1:
        return -1;
      case 2:
        return INT64_MAX;
      case 3:
        return INT64_MIN;
      case 4:
        return static_cast<int64_t>(1) << random_() % 63;
      case 5:
        return static_cast<int64_t>((static_cast<uint64_t>(random_()) << 32) | random_());
      default:
        return 1 + static_cast<int64_t>(random_() % 4096);
    }
  }

  int small() { return static_cast<int>(random_() % 4) - (random_() % 8 == 0 ? 3 : 0); }

  FusedLoop fused() {
    FusedLoop loop{.tiles = number(),
                   .prologue_bytes = number(),
                   .epilogue_bytes = number(),
                   .vmem_bytes = random_() % 4 ? 0 : number()};
    loop.buffers = random_() % 4 ? 2 : small();
    loop.tile = {.bytes_in = number(),
                 .bytes_out = number(),
                 .run_in = number(),
                 .run_out = number(),
                 .scalar_ops = number()};
    loop.tile.vmem_traffic = number();
    if (random_() % 2)
      loop.tile.matrix.push_back({number(), number(), number(), number(), DType::kBF16, small()});
    loop.tile.vector[random_() % kNumVectorOps] = number();
    loop.tile.transpose = {number(), number(), number()};
    return loop;
  }

  CollectiveStart collective() {
    CollectiveStart start{static_cast<CollectiveKind>(random_() % 5), number(), nullptr, nullptr, small()};
    if (random_() % 2) {
      start.groups =
          std::make_shared<const DeviceGroups>(DeviceGroups{{small(), small()}, {small(), small()}});
    }
    if (random_() % 2) start.pairs = std::make_shared<const DevicePairs>(DevicePairs{{small(), small()}});
    return start;
  }

  Command command(int depth) {
    const Label label{"x", static_cast<OpClass>(random_() % kNumOpClasses)};
    switch (random_() % 10) {
      case 0:
        return {label, fused()};
      case 1:
        return {label,
                Copy{Space::kHbm, random_() % 2 ? Space::kHbm : Space::kVmem, number(), number(), small()}};
      case 2:
        return {label, collective()};
      case 3:
        return {label, HostTransfer{number(), small()}};
      case 4:
        return {label, IndexedAccess{number(), number(), random_() % 2 == 0}};
      case 5:
        return {label, Serial{number(), number()}};
      case 6:
        if (depth < 3) return {label, Loop{number(), commands(depth + 1)}};
        return {label, Loop{number(), {}}};
      case 7:
        if (depth < 3) return {label, Conditional{{commands(depth + 1), {}}, small()}};
        return {label, Conditional{{}, small()}};
      default:
        return {label, Wait{small()}};
    }
  }

  std::mt19937 random_;
};

TEST(Extremes, programs_end_in_a_finite_time_or_an_error_of_one_line) {
  const char* topologies[] = {"v5e:2x2", "v7x:2x1x1", "v1:1", "v6e:1x1", "v4:1x1x4"};
  int ended = 0;
  for (unsigned seed = 0; seed < programs(); ++seed) {
    const Pod pod = parse_pod(topologies[seed % std::size(topologies)]);
    try {
      const Timeline t = simulate({Extremes(seed).commands(0)}, pod);
      EXPECT_TRUE(std::isfinite(t.seconds) && t.seconds >= 0) << "seed " << seed;
      ++ended;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kUser) << "seed " << seed << ": " << e.what();
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    }
  }
  EXPECT_GT(ended, 0);
}

TEST(Extremes, products_get_blocks_or_an_error) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto number = [&] { return static_cast<int64_t>(1) << random() % 34; };
    const Matmul p{.m = number(),
                   .n = number(),
                   .k = number(),
                   .batch = number(),
                   .operand = random() % 2 ? DType::kF32 : DType::kS8};
    const Chip& chip = chips()[random() % chips().size()];
    try {
      const FusedLoop loop = matmul_loop(p, choose_blocks(p, chip));
      EXPECT_TRUE(std::isfinite(estimate_seconds({{"dot"}, loop}, chip))) << "seed " << seed;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kUser) << "seed " << seed << ": " << e.what();
    }
  }
}

}  // namespace
}  // namespace armillary::sim
