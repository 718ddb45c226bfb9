// Shardings that say for each dimension which axes of a mesh cut it: Shardy's language, which HLO has taken
// over with other quotes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "xla_core/hlo/mesh.h"
#include "xla_core/spmd/sharding.h"

namespace armillary {

// Of one array, as written over a mesh.
struct MeshSharding {
  Sharding sharding;
  std::vector<bool> open;  // dimensions that may be cut further
  Sharding taken;          // `sharding`, with one more dimension that is cut by the axes which cut none
};

// `[{"a"}, {"b", ?}], replicated={"c"}, unreduced={"d"}`. Axes in `only`, if not empty, count; the others cut
// nothing.
MeshSharding read_mesh_sharding(Scanner& in, const Mesh& mesh, int64_t rank, int64_t devices, char quote,
                                const std::vector<std::string>& only = {});

// Module attribute xla.sdy.meshes.
using Meshes = std::map<std::string, Mesh, std::less<>>;
Meshes parse_meshes(std::string_view frontend_attributes);

// `#sdy.sharding_per_value<[<@mesh, [{"a"}]>]>` and `#sdy.sharding<@mesh, [{"a"}]>`; one per array.
std::vector<MeshSharding> parse_sdy_shardings(std::string_view text, const Meshes& meshes,
                                              const std::vector<int64_t>& ranks, int64_t devices,
                                              const std::vector<std::string>& only = {});

// `#sdy<manual_axes{"a", "b"}>`
std::vector<std::string> parse_manual_axes(std::string_view text);

// The value of a key of `{key="value",other={...}}`, escapes resolved; empty when it is not there.
std::string frontend_attribute(std::string_view attributes, std::string_view key);

}  // namespace armillary
