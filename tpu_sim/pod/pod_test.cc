#include "tpu_sim/pod.h"

#include <gtest/gtest.h>

namespace armillary::sim {
namespace {

Command matmul(int64_t m, int64_t n, int64_t k, const Chip& chip) {
  const Matmul p{.m = m, .n = n, .k = k};
  return {{"dot", OpClass::kMatmul, 2.0 * static_cast<double>(m * n * k)},
          matmul_loop(p, choose_blocks(p, chip))};
}

TEST(Pods, a_matmul_takes_time) {
  const Pod pod = parse_pod("v6e:1x1");
  const Program program{{matmul(8192, 8192, 8192, pod.chip)}};
  const Timeline t = simulate(program, pod);
  EXPECT_NEAR(t.seconds, 1.328756e-3, 0.1e-3);
  EXPECT_NEAR(t.mfu, 0.9, 0.1);
}

}  // namespace
}  // namespace armillary::sim
