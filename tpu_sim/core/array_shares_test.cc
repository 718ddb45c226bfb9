#include "tpu_sim/core/array_shares.h"

#include <gtest/gtest.h>

#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

// Jouppi et al., ISCA 2017, tables 1 and 3: percent of cycles. LSTM0 multiplies 8 bits by 16.
struct Row {
  const char* name;
  int64_t batch, cycles_per_vector;
  double non_matrix, active, stall, shift;
  double points;  // how far we may be off
};

constexpr Row kRows[] = {
    {"MLP0", 200, 1, 17.5, 12.7, 53.9, 15.9, 1.5},
    {"LSTM0", 64, 2, 17.9, 8.2, 58.1, 15.8, 1.5},
    {"MLP1", 168, 1, 31.9, 10.6, 44.2, 13.4, 5},
    {"LSTM1", 96, 1, 10.3, 10.5, 62.1, 17.1, 5},
};

TEST(ArrayShares, of_the_first_tpu_come_near_its_counters) {
  for (const Row& row : kRows) {
    const ArrayShares s =
        array_shares(find_chip("v1"), row.batch, row.cycles_per_vector, row.non_matrix / 100);
    EXPECT_NEAR(100 * s.active, row.active, row.points) << row.name;
    EXPECT_NEAR(100 * s.stall, row.stall, row.points) << row.name;
    EXPECT_NEAR(100 * s.shift, row.shift, row.points) << row.name;
    EXPECT_NEAR(s.active + s.stall + s.shift + s.non_matrix, 1, 1e-12) << row.name;
  }
}

TEST(ArrayShares, enough_vectors_leave_no_stall) {
  const ArrayShares s = array_shares(find_chip("v1"), 4096, 1, 0);
  EXPECT_EQ(s.stall, 0);
  EXPECT_NEAR(s.active, 4096.0 / (4096 + 256), 1e-6);
}

TEST(ArrayShares, what_cannot_be_is_refused) {
  EXPECT_THROW(array_shares(find_chip("v1"), 0, 1, 0), Error);
  EXPECT_THROW(array_shares(find_chip("v1"), 1, 1, 1.5), Error);
}

}  // namespace
}  // namespace armillary::sim
