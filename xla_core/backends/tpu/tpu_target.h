// The simulated TPU as a target record.
#pragma once

#include "xla_core/target/target.h"

namespace armillary::tpu {

const Target& target();

}  // namespace armillary::tpu
