// How an array is cut over the devices of a program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xla_core/hlo/device_groups.h"
#include "xla_core/shape/shape.h"

namespace armillary {

// Every device holds one tile; devices with the same tile hold copies, or, if the array is unreduced,
// summands.
struct Sharding {
  Dims tiles;                            // for each dimension into how many parts it is cut
  std::vector<int64_t> tile_of;          // for each device its tile, row-major
  int64_t summands = 1;                  // a tile is the sum of so many
  std::vector<int64_t> summand_of = {};  // for each device which one it holds; empty if there is only one

  static Sharding replicated(int64_t rank, int64_t devices) {
    return {Dims(rank, 1), DeviceList(devices, 0)};
  }

  bool is_replicated() const;  // whole on every device
  bool divides(const Shape& shape) const;
  Shape local(const Shape& shape) const;  // of one tile; `divides` holds
  int64_t tile_count() const;
  Dims coordinates(int64_t device) const;  // of its tile
  // Cut along those dimensions only.
  Sharding restricted(const std::vector<bool>& dimensions) const;
  // Each of its tiles lies in the same device's tile of `coarse`, along the dimensions that cuts.
  bool is_within(const Sharding& coarse) const;
  // The same tiles, once the summands are added.
  Sharding added() const { return {tiles, tile_of}; }
  // For all-gathers of the tiles: in each group one device a tile, in order. With a sharding of the same
  // array: only devices whose tiles lie in one tile of that.
  std::vector<DeviceList> groups() const;
  std::vector<DeviceList> groups_within(const Sharding& other) const;
  // For all-reduces of the summands: in each group one device a summand of the same tile, in order.
  std::vector<DeviceList> summand_groups() const;
  // The tiles that arise when each device's coordinates become `map(coordinates)` in an array of `tiles`.
  template <class Map>
  Sharding mapped(Dims new_tiles, Map map) const {
    Sharding out{std::move(new_tiles), {}};
    for (size_t d = 0; d < tile_of.size(); ++d)
      out.tile_of.push_back(out.tile_at(map(coordinates(static_cast<int64_t>(d)))));
    return out;
  }
  int64_t tile_at(const Dims& coordinates) const;

  friend bool operator==(const Sharding&, const Sharding&) = default;
};

// What HLO's sharding={...} says of one leaf of a value.
struct Annotation {
  enum Kind : uint8_t { kTiled, kMaximal, kNone } kind = kNone;  // kNone: unknown or manual, no wish
  Sharding sharding;                                             // kTiled
  int64_t device = 0;                                            // kMaximal: the only one that computes it
};

// `{replicated}`, `{maximal device=1}`, `{devices=[2,1,2]<=[4] last_tile_dim_replicate}`, `{manual}`,
// `{mesh['a'=2], [{'a'}, {}]}`, or one for each leaf in another pair of braces. `ranks`: of the leaves.
// Throws a user error on a text that is none, or does not fit the ranks or the number of devices.
std::vector<Annotation> parse_sharding(std::string_view text, const std::vector<int64_t>& ranks,
                                       int64_t devices);

// HLO text of the same.
std::string to_string(const Sharding& sharding);

}  // namespace armillary
