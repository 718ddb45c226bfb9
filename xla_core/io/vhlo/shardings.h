// Shardings of an artifact, which are texts (mhlo.sharding) or Shardy's attributes, as HLO has them.
#pragma once

#include <string_view>
#include <unordered_map>

#include "xla_core/io/hlo.pb.h"
#include "xla_core/io/vhlo/ir.h"

namespace armillary::vhlo {

// Meshes by name.
using Meshes = std::unordered_map<std::string_view, const Attribute*>;

// An HloSharding's text, or the bytes of an OpSharding.
proto::OpSharding read_sharding(std::string_view text);
proto::OpSharding hlo_sharding(const Attribute& sharding, const Meshes& meshes);
// Of several results: a tuple.
proto::OpSharding hlo_sharding_per_value(const Attribute& per_value, const Meshes& meshes, size_t results);
// Elements that have none are replicated.
proto::OpSharding tuple_sharding(std::span<const proto::OpSharding* const> elements);

}  // namespace armillary::vhlo
