// What a run adds up. Differences of two totals are what happened between: that is how loops are
// extrapolated.
#pragma once

#include <vector>

#include "tpu_sim/pod/step.h"

namespace armillary::sim {

struct LabelTotals {
  Tick core = 0, background = 0;
  int64_t runs = 0;
};

struct Totals {
  std::vector<LabelTotals> labels;
  std::array<Tick, kNumOpClasses> by_class = {};
  Tick mxu = 0, vpu = 0, xlu = 0, hbm = 0, ici = 0, dcn = 0;
  Tick exposed_communication = 0, exposed_copy = 0, communication = 0;
  std::array<Tick, kNumCollectiveKinds> communication_by_kind = {}, exposed_by_kind = {};
  double flops = 0, hbm_bytes = 0;

  // The labels chosen, and all the sums.
  Totals of(const std::vector<int>& chosen) const;
  // Adds `times` what has come since `before`, which has the labels chosen.
  void repeat(const Totals& before, const std::vector<int>& chosen, int64_t times);
};

}  // namespace armillary::sim
