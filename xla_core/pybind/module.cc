#include "xla_core/pybind/bind.h"

PYBIND11_MODULE(_core, m) {
  m.doc() = "The compiled core of Armillary: HLO, passes, interpreter, back ends.";
  armillary::bind_errors(m);
  armillary::bind_shapes(m);
  armillary::bind_hlo(m);
  armillary::bind_tables(m);
  armillary::bind_run(m);
  armillary::bind_executable(m);
  armillary::bind_plugin(m);
  armillary::bind_callbacks(m);
  armillary::bind_dlpack(m);
  armillary::bind_simulate(m);
}
