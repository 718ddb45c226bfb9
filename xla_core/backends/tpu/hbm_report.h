// How much HBM a program takes, and what takes it.
#pragma once

#include "xla_core/buffers/assign.h"

namespace armillary::tpu {

HbmReport hbm_report(const Module& module, const Values& values, const Assignment& assignment);

}  // namespace armillary::tpu
