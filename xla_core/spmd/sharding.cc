#include "xla_core/spmd/sharding.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "xla_core/base/error.h"

namespace armillary {

bool Sharding::is_replicated() const { return tile_count() == 1 && summands == 1; }

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

namespace {

// holders[k]: who can be member k of a group. Each group takes the next one of every list.
std::vector<DeviceList> zip(const std::vector<DeviceList>& holders) {
  std::vector<DeviceList> out(holders[0].size());
  for (const DeviceList& h : holders)
    for (size_t g = 0; g < out.size(); ++g) out[g].push_back(h[g]);
  return out;
}

}  // namespace

Sharding Sharding::restricted(const std::vector<bool>& dimensions) const {
  auto chosen = [&](Dims values, int64_t fill) {
    for (size_t d = 0; d < values.size(); ++d)
      if (!dimensions[d]) values[d] = fill;
    return values;
  };
  return mapped(chosen(tiles, 1), [&](const Dims& c) { return chosen(c, 0); });
}

bool Sharding::is_within(const Sharding& coarse) const {
  std::vector<bool> cut;
  for (int64_t n : coarse.tiles) cut.push_back(n > 1);
  return restricted(cut) == coarse.added();
}

std::vector<DeviceList> Sharding::groups() const {
  return groups_within(replicated(static_cast<int64_t>(tiles.size()), static_cast<int64_t>(tile_of.size())));
}

std::vector<DeviceList> Sharding::groups_within(const Sharding& other) const {
  std::vector<DeviceList> out;
  for (int64_t part = 0; part < other.tile_count(); ++part) {
    std::map<int64_t, DeviceList> holders;
    for (size_t d = 0; d < tile_of.size(); ++d)
      if (other.tile_of[d] == part) holders[tile_of[d]].push_back(static_cast<int64_t>(d));
    std::vector<DeviceList> members;
    for (auto& [tile, devices] : holders) members.push_back(std::move(devices));
    for (DeviceList& group : zip(members)) out.push_back(std::move(group));
  }
  return out;
}

std::vector<DeviceList> Sharding::summand_groups() const {
  std::vector<DeviceList> out;
  for (int64_t tile = 0; tile < tile_count(); ++tile) {
    std::vector<DeviceList> holders(summands);
    for (size_t d = 0; d < tile_of.size(); ++d)
      if (tile_of[d] == tile) holders[summand_of[d]].push_back(static_cast<int64_t>(d));
    for (DeviceList& group : zip(holders)) out.push_back(std::move(group));
  }
  return out;
}

std::string to_string(const Sharding& s) {
  if (s.is_replicated()) return "{replicated}";
  // Devices in the order of tiles, then summands, copies side by side.
  const auto devices = static_cast<int64_t>(s.tile_of.size());
  DeviceList order(devices);
  std::iota(order.begin(), order.end(), 0);
  auto place = [&](int64_t d) {
    return std::pair(s.tile_of[d], s.summand_of.empty() ? int64_t{0} : s.summand_of[d]);
  };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return place(a) < place(b); });
  const int64_t copies = devices / s.tile_count() / s.summands;
  Dims dims = s.tiles;
  std::string kinds;
  if (s.summands > 1) {
    dims.push_back(s.summands);
    kinds = copies > 1 ? " last_tile_dims={unreduced, replicated}" : " last_tile_dims={unreduced}";
  } else if (copies > 1) {
    kinds = " last_tile_dim_replicate";
  }
  if (copies > 1) dims.push_back(copies);
  return fmt::format("{{devices=[{}]{}{}}}", fmt::join(dims, ","), fmt::join(order, ","), kinds);
}

}  // namespace armillary
