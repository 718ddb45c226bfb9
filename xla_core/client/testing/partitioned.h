// A partitioned program, run on its devices, against the same program on one device.
#pragma once

#include <string>
#include <vector>

#include "xla_core/client/client.h"
#include "xla_core/spmd/sharding.h"

namespace armillary {

// The part of a whole array that a device holds; of its summands, numbers that add up to it.
Literal tile_of(const Literal& whole, const Sharding& s, int64_t device);

Sharding sharding_of(const Instruction* parameter, int64_t devices);
std::vector<Sharding> result_shardings(const Module& m);

// Runs both on the same f32 and s32 arrays. `results`: the shardings the program ends up with. Returns its
// text.
std::string expect_same(const std::string& header, const std::string& body, int64_t devices,
                        const std::vector<std::string>& results);

int64_t count_in(const std::string& text, const std::string& what);

}  // namespace armillary
