// The CPU as a target record.
#pragma once

#include "xla_core/target/target.h"

namespace armillary::cpu {

const Target& target();

}  // namespace armillary::cpu
