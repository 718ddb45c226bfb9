// jax.experimental.shard_alike: values of one group are cut alike, whichever of them is cut first.
#pragma once

#include "xla_core/spmd/marks.h"

namespace armillary {

inline constexpr std::string_view kShardingGroup = "xla.sdy.ShardingGroup";

// Cuts the members of groups in which one is there in tiles by now, and takes their calls out of the program;
// when there is no such group left, takes out all. Returns whether there were any.
bool agree_in_groups(Module& m, Marks& marks);

}  // namespace armillary
