#include "xla_core/spmd/sharding.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "xla_core/base/error.h"

namespace armillary {

bool Sharding::is_replicated() const { return tile_count() == 1; }

int64_t Sharding::tile_count() const {
  return std::accumulate(tiles.begin(), tiles.end(), int64_t{1}, std::multiplies<>());
}

bool Sharding::divides(const Shape& shape) const {
  for (size_t d = 0; d < tiles.size(); ++d)
    if (shape.dims[d] % tiles[d] != 0) return false;
  return true;
}

Shape Sharding::local(const Shape& shape) const {
  Shape out = shape;
  for (size_t d = 0; d < tiles.size(); ++d) out.dims[d] /= tiles[d];
  return out;
}

Dims Sharding::coordinates(int64_t device) const {
  Dims out(tiles.size());
  int64_t rest = tile_of[device];
  for (size_t d = tiles.size(); d-- > 0; rest /= tiles[d]) out[d] = rest % tiles[d];
  return out;
}

int64_t Sharding::tile_at(const Dims& coordinates) const {
  int64_t tile = 0;
  for (size_t d = 0; d < tiles.size(); ++d) tile = tile * tiles[d] + coordinates[d];
  return tile;
}

std::vector<DeviceList> Sharding::groups() const {
  std::vector<DeviceList> holders(tile_count());
  for (size_t d = 0; d < tile_of.size(); ++d) holders[tile_of[d]].push_back(static_cast<int64_t>(d));
  std::vector<DeviceList> out(holders[0].size());
  for (const DeviceList& h : holders)
    for (size_t copy = 0; copy < out.size(); ++copy) out[copy].push_back(h[copy]);
  return out;
}

std::string to_string(const Sharding& s) {
  if (s.is_replicated()) return "{replicated}";
  const std::vector<DeviceList> groups = s.groups();
  // Devices in the order of tiles, copies of a tile side by side.
  DeviceList devices;
  for (int64_t tile = 0; tile < s.tile_count(); ++tile)
    for (const DeviceList& g : groups) devices.push_back(g[tile]);
  std::string tiles = fmt::format("{}", fmt::join(s.tiles, ","));
  if (groups.size() == 1) return fmt::format("{{devices=[{}]{}}}", tiles, fmt::join(devices, ","));
  return fmt::format("{{devices=[{},{}]{} last_tile_dim_replicate}}", tiles, groups.size(),
                     fmt::join(devices, ","));
}

}  // namespace armillary
