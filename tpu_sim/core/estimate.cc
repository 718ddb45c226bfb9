#include <algorithm>

#include "tpu_sim/core/price.h"
#include "tpu_sim/isa.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

class Estimate {
 public:
  explicit Estimate(const Device& device) : device_(device) {}

  double of(const Command& command) const {
    return std::visit([&](const auto& what) { return ticks(what); }, command.what);
  }

 private:
  template <class OnCore>
  double ticks(const OnCore& what) const {
    return static_cast<double>(price(what, device_).duration);
  }
  double ticks(const CollectiveStart&) const { return 0; }
  double ticks(const Wait&) const { return 0; }
  double ticks(const Loop& loop) const { return static_cast<double>(loop.trips) * (turn() + sum(loop.body)); }
  double ticks(const Conditional& conditional) const {
    const int count = static_cast<int>(conditional.branches.size()), taken = conditional.taken;
    if (count == 0 || taken >= count) throw user_error("a conditional takes branch {} of {}", taken, count);
    double dearest = 0;
    for (const auto& branch : conditional.branches) dearest = std::max(dearest, sum(branch));
    return turn() + (taken < 0 ? dearest : sum(conditional.branches[taken]));
  }

  double turn() const { return static_cast<double>(device_.tile_step); }
  double sum(const std::vector<Command>& commands) const {
    double total = 0;
    for (const Command& command : commands) total += of(command);
    return total;
  }

  const Device& device_;
};

}  // namespace

double estimate_seconds(const Command& command, const Chip& chip) {
  const Device device(chip);
  return Estimate(device).of(command) / kTicksPerSecond;
}

}  // namespace armillary::sim
