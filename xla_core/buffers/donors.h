// Donated arguments that say nothing about who may have their memory.
#pragma once

#include "xla_core/hlo/module.h"

namespace armillary {

// For each donor that is no alias yet, the first result that has none and for which `fits(donor, result)`.
using FitsDonor = bool (*)(const Shape& given, const Shape& result);
std::vector<InputOutputAlias> takers_of_donors(const Module& m, FitsDonor fits);
// Those of the same shape become aliases. Returns whether there were any.
bool match_donors(Module& m);

}  // namespace armillary
