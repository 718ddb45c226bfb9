#include "tpu_sim/core/padding.h"

#include <gtest/gtest.h>

#include <vector>

#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

int64_t bytes(std::vector<int64_t> dims, DType dtype) { return padded_bytes(dims, dtype); }

TEST(Padding, narrower_elements_share_a_sublane) {
  EXPECT_EQ(hardware_tile(DType::kF32).sublanes, 8);
  EXPECT_EQ(hardware_tile(DType::kF64).sublanes, 8);
  EXPECT_EQ(hardware_tile(DType::kBF16).sublanes, 16);
  EXPECT_EQ(hardware_tile(DType::kS8).sublanes, 32);
  EXPECT_EQ(hardware_tile(DType::kPred).sublanes, 32);
  EXPECT_EQ(hardware_tile(DType::kS4).sublanes, 64);
}

TEST(Padding, the_minor_two_dimensions_fill_whole_registers) {
  EXPECT_EQ(bytes({1, 4096}, DType::kF32), 8 * 4096 * 4);
  EXPECT_EQ(bytes({129, 129}, DType::kF32), 136 * 256 * 4);
  EXPECT_EQ(bytes({129, 129, 129}, DType::kBF16), 129 * 144 * 256 * 2);
  EXPECT_EQ(bytes({32, 128}, DType::kS8), 32 * 128);
  EXPECT_EQ(bytes({64, 128}, DType::kS4), 64 * 128 / 2);
  EXPECT_EQ(bytes({8, 128}, DType::kF64), 8 * 128 * 8);
}

TEST(Padding, one_dimension_fills_rows_of_lanes_and_a_scalar_one) {
  EXPECT_EQ(bytes({1000}, DType::kF32), 1024 * 4);
  EXPECT_EQ(bytes({1000}, DType::kBF16), 1024 * 2);
  EXPECT_EQ(bytes({}, DType::kF32), 512);
  EXPECT_EQ(bytes({}, DType::kS8), 512);
}

TEST(Padding, empty_arrays_take_nothing_and_what_cannot_be_is_refused) {
  EXPECT_EQ(bytes({0, 5, 5}, DType::kF32), 0);
  EXPECT_THROW(bytes({-1, 5}, DType::kF32), Error);
  EXPECT_THROW(bytes({int64_t{1} << 40, int64_t{1} << 40}, DType::kF32), Error);
  EXPECT_THROW(bytes({INT64_MAX}, DType::kF32), Error);
  EXPECT_THROW(bytes({5}, DType::kToken), Error);
}

}  // namespace
}  // namespace armillary::sim
