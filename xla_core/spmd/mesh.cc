#include "xla_core/spmd/mesh.h"

#include <algorithm>

#include "xla_core/hlo/scanner.h"

namespace armillary {
namespace {

constexpr int kNesting = 10;
// `<["a"=2], device_ids=[1,0]>`
Mesh read_sdy_mesh(Scanner& in) {
  in.expect('<', "to open a mesh");
  Mesh mesh = read_axes(in, '"');
  if (in.accept(',')) {
    in.expect("device_ids=[", "after the axes of a mesh");
    mesh.devices = in.integers(']');
    check_devices(in, mesh);
  }
  in.expect('>', "to close a mesh");
  return mesh;
}

bool counts(const Mesh& mesh, const AxisPart& part, const std::vector<std::string>& only) {
  return only.empty() || std::find(only.begin(), only.end(), mesh.names[part.axis]) != only.end();
}

}  // namespace

MeshSharding read_mesh_sharding(Scanner& in, const Mesh& mesh, int64_t rank, int64_t devices, char quote,
                                const std::vector<std::string>& only) {
  MeshSharding out;
  std::vector<std::vector<AxisPart>> parts;
  const size_t at = in.next_position();
  in.expect('[', "to open the dimensions of a sharding");
  in.list(']', "between dimensions", [&] {
    parts.emplace_back();
    out.open.push_back(false);
    in.expect('{', "to open a dimension");
    in.list('}', "between axes", [&] {
      if (in.accept('?')) {
        out.open.back() = true;
      } else {
        const AxisPart part = read_axis(in, mesh, quote);
        if (counts(mesh, part, only)) parts.back().push_back(part);
      }
    });
    if (in.accept('p')) in.integer("a priority");
  });
  if (static_cast<int64_t>(parts.size()) != rank)
    throw in.error(at, "a sharding of {} dimensions for an array of rank {}", parts.size(), rank);
  std::vector<AxisPart> replicated, unreduced;
  while (in.accept(',')) {
    const std::string_view word = in.identifier("replicated or unreduced");
    in.expect('=', "before axes");
    in.expect('{', "to open axes");
    in.list('}', "between axes", [&] {
      const AxisPart part = read_axis(in, mesh, quote);
      if (counts(mesh, part, only)) (word == "unreduced" ? unreduced : replicated).push_back(part);
    });
  }
  Sharding& sharding = out.sharding = Sharding::replicated(rank, devices);
  Sharding& taken = out.taken = Sharding::replicated(rank + 1, devices);
  if (mesh.devices.size() == 1) return out;  // a program for one device, called by one for many, cuts nothing
  if (!mesh.sizes.empty() && static_cast<int64_t>(mesh.devices.size()) != devices)
    throw in.error(at, "a mesh of {} devices in a program for {}", mesh.devices.size(), devices);
  for (size_t d = 0; d < parts.size(); ++d)
    for (const AxisPart& p : parts[d]) sharding.tiles[d] *= p.size;
  for (const AxisPart& p : unreduced) sharding.summands *= p.size;
  taken.tiles = sharding.tiles;
  taken.tiles.push_back(1);
  for (const AxisPart& p : replicated) taken.tiles.back() *= p.size;
  if (sharding.summands > 1) sharding.summand_of.assign(devices, 0);
  auto along = [&](const std::vector<AxisPart>& axes, size_t position) {
    int64_t index = 0;
    for (const AxisPart& p : axes)
      index = index * p.size + coordinate(mesh, static_cast<int64_t>(position), p);
    return index;
  };
  for (size_t position = 0; position < mesh.devices.size(); ++position) {
    const int64_t device = mesh.devices[position];
    if (device < 0 || device >= devices) throw in.error(at, "a mesh names device {} of {}", device, devices);
    Dims tile;
    for (const std::vector<AxisPart>& p : parts) tile.push_back(along(p, position));
    sharding.tile_of[device] = sharding.tile_at(tile);
    tile.push_back(along(replicated, position));
    taken.tile_of[device] = taken.tile_at(tile);
    if (sharding.summands > 1) sharding.summand_of[device] = along(unreduced, position);
  }
  std::vector<int64_t> holders(sharding.tile_count() * sharding.summands, 0);
  for (int64_t d = 0; d < devices; ++d)
    ++holders[sharding.tile_of[d] * sharding.summands + (sharding.summands > 1 ? sharding.summand_of[d] : 0)];
  if (std::any_of(holders.begin(), holders.end(), [&](int64_t n) { return n != holders[0]; }))
    throw in.error(at, "an axis of a sharding comes twice");
  return out;
}

Meshes parse_meshes(std::string_view frontend_attributes) {
  Meshes meshes;
  const std::string text = frontend_attribute(frontend_attributes, "xla.sdy.meshes");
  if (text.empty()) return meshes;
  Scanner in(text, "xla.sdy.meshes", kNesting);
  in.expect('{', "to open the meshes");
  in.list('}', "between meshes", [&] {
    const std::string name =
        in.peek() == '"' ? in.string("the name of a mesh") : std::string(in.identifier("the name of a mesh"));
    in.expect('=', "after the name of a mesh");
    in.expect("#sdy.mesh", "before a mesh");
    meshes[name] = read_sdy_mesh(in);
  });
  return meshes;
}

std::vector<MeshSharding> parse_sdy_shardings(std::string_view text, const Meshes& meshes,
                                              const std::vector<int64_t>& ranks, int64_t devices,
                                              const std::vector<std::string>& only) {
  Scanner in(text, "sharding", kNesting);
  std::vector<MeshSharding> out;
  auto read_one = [&](int64_t rank) {
    in.expect('<', "to open a sharding");
    Mesh own;
    const Mesh* mesh = &own;
    const size_t at = in.next_position();
    if (in.accept('@')) {
      const std::string name = in.peek() == '"' ? in.string("the name of a mesh")
                                                : std::string(in.identifier("the name of a mesh"));
      auto found = meshes.find(name);
      if (found == meshes.end()) throw in.error(at, "there is no mesh @{}", name);
      mesh = &found->second;
    } else {
      in.expect("mesh", "to name a mesh");
      own = read_sdy_mesh(in);
    }
    in.expect(',', "after a mesh");
    out.push_back(read_mesh_sharding(in, *mesh, rank, devices, '"', only));
    in.expect('>', "to close a sharding");
  };
  if (in.accept("#sdy.sharding_per_value<[")) {
    in.list(']', "between shardings", [&] { read_one(out.size() < ranks.size() ? ranks[out.size()] : 0); });
  } else {
    in.expect("#sdy.sharding", "before a sharding");
    read_one(ranks.empty() ? 0 : ranks[0]);
  }
  if (out.size() != ranks.size())
    throw user_error("{} shardings for {} arrays in {}", out.size(), ranks.size(), text);
  return out;
}

std::vector<std::string> parse_manual_axes(std::string_view text) {
  Scanner in(text, "manual_axes", kNesting);
  std::vector<std::string> out;
  in.expect("#sdy<manual_axes{", "before axes");
  in.list('}', "between axes", [&] { out.push_back(in.string("the name of an axis")); });
  return out;
}

std::string frontend_attribute(std::string_view attributes, std::string_view key) {
  if (attributes.empty()) return {};
  Scanner in(attributes, "frontend_attributes", kNesting);
  in.expect('{', "to open the attributes");
  while (!in.accept('}')) {
    const std::string name = in.peek() == '"' ? in.string("a key") : std::string(in.identifier("a key"));
    in.expect('=', "after a key");
    std::string value;
    if (in.peek() == '"')
      value = in.string("a value");
    else if (in.peek() == '{')
      value = in.balanced("a value");
    else
      while (in.raw_peek() != ',' && in.raw_peek() != '}' && !in.at_end()) {
        value += in.raw_peek();
        in.advance();
      }
    if (name == key) return value;
    if (in.peek() != '}') in.expect(',', "between attributes");
  }
  return {};
}

}  // namespace armillary
