// Who a command belongs to.
#include "xla_core/analysis/cost.h"
#include "xla_core/backends/tpu/lower.h"

namespace armillary::tpu {

sim::Label label_of(const Instruction& i, sim::OpClass op_class, double flops) {
  return {.name = i.name(),
          .op_class = op_class,
          .flops = flops,
          .bytes = i.has(kCallsControl) ? 0 : cost_of(i).bytes,
          .op_name = i.metadata().op_name,
          .source = i.source_line()};
}

}  // namespace armillary::tpu
