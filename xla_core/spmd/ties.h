// How an op's operands must be cut for each device to make its tile of the result alone, read off the op's
// row.
#pragma once

#include <optional>

#include "xla_core/passes/build.h"
#include "xla_core/spmd/sharding.h"

namespace armillary {

// What the operands must be for a result cut as `result`; nothing where tiles of them are not enough.
std::optional<std::vector<Sharding>> operand_shardings(const Instruction& i, const Sharding& result);

// How the result is cut if operand `k` is and the others follow; nothing where no such cut exists.
std::optional<Sharding> result_sharding(const Instruction& i, int64_t k, const Sharding& operand);

// The op on tiles, which `operands` are, in front of `b`.
Instruction* on_tiles(Build& b, const Instruction& i, std::vector<Instruction*> operands,
                      const Sharding& result);

// The device's number of elements that stand in front of its tile of an array of local shape `tile`, along
// each cut dimension; nullptr along the others. s32.
std::vector<Instruction*> tile_offsets(Build& b, const Sharding& s, const Shape& tile);

}  // namespace armillary
