// Who asked how a value is cut (jax.debug.inspect_array_sharding) is told while the program is partitioned.
#pragma once

#include <functional>

#include "xla_core/spmd/marks.h"

namespace armillary {

inline constexpr std::string_view kInspectSharding = "InspectSharding";

// Given the backend_config of the call and a sharding as HLO writes it. Empty: nobody wants to know.
using ShardingInspector = std::function<void(const std::string& config, const std::string& sharding)>;
ShardingInspector& sharding_inspector();

// Tells them, and takes their calls out of the program.
void answer_inspections(Module& m, const Marks& marks);

}  // namespace armillary
