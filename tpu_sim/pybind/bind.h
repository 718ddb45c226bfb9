// What each file here adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace armillary::sim {

void bind_systolic(nanobind::module_& m);
void bind_chips(nanobind::module_& m);
void bind_collectives(nanobind::module_& m);
void bind_prices(nanobind::module_& m);
void bind_programs(nanobind::module_& m);

}  // namespace armillary::sim
