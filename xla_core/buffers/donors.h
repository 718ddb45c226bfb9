// Donated arguments that say nothing about who may have their memory.
#pragma once

#include "xla_core/hlo/module.h"

namespace armillary {

// Each donor that is no alias yet becomes one of the first result of its shape that has none.
bool match_donors(Module& m);

}  // namespace armillary
