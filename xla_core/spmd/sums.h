// Arrays that are sums of what the devices hold, and stay so until someone asks for the sum.
#pragma once

#include "xla_core/spmd/marks.h"

namespace armillary {

// What is left to add of summands as `have` where those as `want` are asked: the devices that hold parts of
// one of the latter. Nothing where these are no sums of the former.
std::optional<Sharding> left_to_add(const Sharding& have, const Sharding& want);

// Which device starts a summand as `s` with what it holds of an array that is cut as `from`: each element
// comes from one device of those that hold summands of it. Nothing where they do not hold all of it.
std::optional<std::vector<bool>> summands_from_tiles(const Sharding& from, const Sharding& s);

}  // namespace armillary
