#include "xla_core/kernels/estimate.h"

#include <vector>

namespace armillary::kernels {

double cost_of(Prim prim) {
  if (prim == Prim::kConst || prim == Prim::kArg || prim == Prim::kIndex) return 0;
  if (prim >= Prim::kCbrt && prim <= Prim::kAtanh) return 10;
  if (prim == Prim::kDiv || prim == Prim::kRem || prim == Prim::kSqrt || prim == Prim::kRsqrt) return 4;
  return prim >= Prim::kLoopBegin && prim != Prim::kStore ? 0 : 1;
}

double estimate_work(const Kernel& kernel) {
  double total = 0, rounds = 1;
  std::vector<double> open;
  for (const TapeNode& n : kernel.body.nodes) {
    if (n.prim == Prim::kLoopBegin) {
      open.push_back(rounds);
      rounds *= static_cast<double>(n.imm);
    } else if (n.prim == Prim::kLoopEnd) {
      rounds = open.back();
      open.pop_back();
    }
    total += cost_of(n.prim) * rounds;
  }
  return total < 1 ? 1 : total;
}

}  // namespace armillary::kernels
