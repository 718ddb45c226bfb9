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

// An op whose work is cut as the operands' cuts allow: along dimensions of its result, and along those it
// sums over, where each device then has a summand of its tile of the result.
struct Split {
  std::vector<Sharding> operands;
  Sharding result;
  Op combine = Op::add;  // of the summands
};
// `cuts`: how operands are cut that are there in tiles. Nothing where that is of no use.
std::optional<Split> split(const Instruction& i, const std::vector<std::optional<Sharding>>& cuts);

// `s`, cut along `dimension` as well, as `other` is along `from`; nothing where some of the tiles were
// nobody's.
std::optional<Sharding> cut_further(const Sharding& s, int64_t dimension, const Sharding& other,
                                    int64_t from);

// The op on tiles, which `operands` are, in front of `b`.
Instruction* on_tiles(Build& b, const Instruction& i, std::vector<Instruction*> operands,
                      const Sharding& result);

// The device's number of elements that stand in front of its tile of an array of local shape `tile`, along
// each cut dimension; nullptr along the others. s32.
std::vector<Instruction*> tile_offsets(Build& b, const Sharding& s, const Shape& tile);

}  // namespace armillary
