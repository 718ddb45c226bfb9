// Shardings of an artifact, which are texts (mhlo.sharding) or Shardy's attributes, as HLO has them.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "xla_core/hlo/module.h"
#include "xla_core/io/hlo.pb.h"
#include "xla_core/io/vhlo/ir.h"

namespace armillary::vhlo {

using Sharding = std::optional<proto::OpSharding>;

// Meshes by name.
using Meshes = std::unordered_map<std::string_view, const Attribute*>;

// The mesh itself, or the one with its name.
const Attribute& mesh_of(const Attribute& mesh, const Meshes& meshes);

// An HloSharding's text, or the bytes of an OpSharding.
proto::OpSharding read_sharding(std::string_view text);
proto::OpSharding hlo_sharding(const Attribute& sharding, const Meshes& meshes);
// Of several results: a tuple.
proto::OpSharding hlo_sharding_per_value(const Attribute& per_value, const Meshes& meshes, size_t results);
// Elements that have none are replicated.
proto::OpSharding tuple_sharding(std::span<const Sharding> elements);

// Of an argument's or a result's dictionary, if there is one: mhlo.sharding, or at the program's edge
// Shardy's.
Sharding sharding_at(const Attribute* dictionary, const Meshes& meshes);
void set_sharding(Instruction* i, const Sharding& sharding);

}  // namespace armillary::vhlo
