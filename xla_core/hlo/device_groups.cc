#include "xla_core/hlo/device_groups.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "xla_core/hlo/module.h"
#include "xla_core/hlo/scanner.h"

namespace armillary {
namespace {

constexpr int kNesting = 10;
constexpr int64_t kMostDevices = int64_t{1} << 20;

DeviceList read_ints(Scanner& in, char close) {
  DeviceList out;
  while (!in.accept(close)) {
    out.push_back(in.integer("a number"));
    if (in.peek() != close) in.expect(',', "between numbers");
  }
  return out;
}

std::vector<DeviceList> read_lists(Scanner& in) {
  std::vector<DeviceList> out;
  in.expect('{', "to open the groups");
  while (!in.accept('}')) {
    in.expect('{', "to open a group");
    out.push_back(read_ints(in, '}'));
    if (in.peek() != '}') in.expect(',', "between groups");
  }
  return out;
}

std::vector<DeviceList> cut(const DeviceList& ids, int64_t groups, int64_t size) {
  std::vector<DeviceList> out;
  for (int64_t g = 0; g < groups; ++g) out.emplace_back(ids.begin() + g * size, ids.begin() + (g + 1) * size);
  return out;
}

std::vector<DeviceList> read_iota(Scanner& in) {
  const size_t at = in.position();
  in.expect('[', "to open the number of groups and their size");
  const DeviceList shape = read_ints(in, ']');
  const DeviceList order = read_device_order(in);
  if (shape.size() != 2 || shape[0] * shape[1] != static_cast<int64_t>(order.size()))
    throw in.error(at, "the groups do not hold {} devices", order.size());
  return cut(order, shape[0], shape[1]);
}

// Axes of a mesh, and from them the ids of its devices with the chosen axes running fastest.
struct Mesh {
  std::vector<std::string> names;
  DeviceList sizes;
  DeviceList ids;
};

Mesh read_mesh(Scanner& in) {
  Mesh mesh;
  in.expect("mesh", "to name a mesh");
  in.expect('[', "to open the axes of a mesh");
  int64_t devices = 1;
  while (!in.accept(']')) {
    in.expect('\'', "before the name of an axis");
    mesh.names.emplace_back(in.identifier("the name of an axis"));
    in.expect('\'', "after the name of an axis");
    in.expect('=', "after the name of an axis");
    const size_t at = in.position();
    mesh.sizes.push_back(in.integer("the size of an axis"));
    if (mesh.sizes.back() < 1 || mesh.sizes.back() > kMostDevices / devices)
      throw in.error(at, "a mesh of more than {} devices", kMostDevices);
    devices *= mesh.sizes.back();
    if (in.peek() != ']') in.expect(',', "between axes");
  }
  if (in.accept(',')) {
    in.expect("device_ids=", "after the axes of a mesh");
    in.expect('(', "to open the device ids");
    if (in.peek() == '[') {
      mesh.ids = read_device_order(in, false);
      in.expect(')', "to close the device ids");
    } else {
      mesh.ids = read_ints(in, ')');
    }
  } else {
    mesh.ids.resize(devices);
    std::iota(mesh.ids.begin(), mesh.ids.end(), 0);
  }
  if (static_cast<int64_t>(mesh.ids.size()) != devices)
    throw in.error(in.position(), "a mesh of {} devices has {} ids", devices, mesh.ids.size());
  return mesh;
}

// 'x', or 'x':(2)4 for the part of size 4 that has a part of size 2 before it: the axis is cut in up to
// three.
void read_axis(Scanner& in, Mesh& mesh, std::vector<std::string>& chosen) {
  in.expect('\'', "before the name of an axis");
  const size_t at = in.position();
  const std::string name(in.identifier("the name of an axis"));
  in.expect('\'', "after the name of an axis");
  if (!in.accept(':')) return chosen.push_back(name);
  in.expect('(', "to open the pre-size");
  const int64_t before = in.integer("a pre-size");
  in.expect(')', "to close the pre-size");
  const int64_t size = in.integer("the size of a part of an axis");
  const auto found = std::find(mesh.names.begin(), mesh.names.end(), name);
  if (found == mesh.names.end()) throw in.error(at, "the mesh has no axis '{}'", name);
  const auto k = found - mesh.names.begin();
  if (before < 1 || size < 1 || mesh.sizes[k] % (before * size) != 0)
    throw in.error(at, "axis '{}' of size {} has no part ({}){}", name, mesh.sizes[k], before, size);
  const int64_t after = mesh.sizes[k] / before / size;
  const std::string part = name + "/" + std::to_string(before);
  mesh.sizes[k] = after;
  mesh.sizes.insert(mesh.sizes.begin() + k, {before, size});
  mesh.names.insert(mesh.names.begin() + k, {name + "/0", part});
  chosen.push_back(part);
}

std::vector<DeviceList> read_mesh_groups(Scanner& in) {
  Mesh mesh = read_mesh(in);
  std::vector<std::string> chosen;
  in.expect('{', "to open the axes of the groups");
  while (!in.accept('}')) {
    read_axis(in, mesh, chosen);
    if (in.peek() != '}') in.expect(',', "between axes");
  }
  // The axes that are not chosen number the groups; the chosen ones, in the order given, the ranks.
  std::vector<int64_t> order;
  for (size_t a = 0; a < mesh.names.size(); ++a)
    if (std::find(chosen.begin(), chosen.end(), mesh.names[a]) == chosen.end())
      order.push_back(static_cast<int64_t>(a));
  int64_t size = 1;
  for (const std::string& name : chosen) {
    const auto found = std::find(mesh.names.begin(), mesh.names.end(), name);
    if (found == mesh.names.end()) throw in.error(in.position(), "the mesh has no axis '{}'", name);
    order.push_back(found - mesh.names.begin());
    size *= mesh.sizes[order.back()];
  }
  if (order.size() != mesh.sizes.size()) throw in.error(in.position(), "an axis of the groups comes twice");
  const DeviceList positions = transposed_iota(mesh.sizes, order);
  DeviceList ids;
  for (int64_t p : positions) ids.push_back(mesh.ids[p]);
  return cut(ids, static_cast<int64_t>(ids.size()) / size, size);
}

}  // namespace

DeviceList transposed_iota(const DeviceList& dims, const DeviceList& permutation) {
  int64_t total = 1;
  for (int64_t d : dims) total *= d;
  DeviceList strides(dims.size(), 1), out(total), index(dims.size(), 0);
  for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  for (int64_t& value : out) {
    value = 0;
    for (size_t d = 0; d < dims.size(); ++d) value += index[d] * strides[permutation[d]];
    for (size_t d = dims.size(); d-- > 0 && ++index[d] == dims[permutation[d]];) index[d] = 0;
  }
  return out;
}

DeviceList read_device_order(Scanner& in, bool arrow) {
  if (arrow) in.expect("<=", "before the device order");
  const size_t at = in.next_position();
  in.expect('[', "to open the device order");
  const DeviceList dims = read_ints(in, ']');
  DeviceList permutation(dims.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  if (in.accept('T')) {
    in.expect('(', "to open the transposition");
    permutation = read_ints(in, ')');
  }
  int64_t total = 1;
  for (int64_t d : dims) {
    if (d < 1 || d > kMostDevices / total)
      throw in.error(at, "an order of more than {} devices", kMostDevices);
    total *= d;
  }
  DeviceList sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  bool fits = sorted.size() == dims.size();
  for (size_t d = 0; fits && d < sorted.size(); ++d) fits = sorted[d] == static_cast<int64_t>(d);
  if (!fits) throw in.error(at, "the transposition does not permute {} dimensions", dims.size());
  return transposed_iota(dims, permutation);
}

std::vector<DeviceList> parse_replica_groups(std::string_view text) {
  Scanner in(text, "replica_groups", kNesting);
  if (in.peek() == '[') return read_iota(in);
  if (in.peek() == 'm') return read_mesh_groups(in);
  return read_lists(in);
}

namespace {

// What the ids of replica_groups count.
enum class Mode : uint8_t { kReplicas, kPartitions, kReplicasOfAllPartitions, kDevices };

Mode mode_of(const Instruction& i) {
  const bool channel = i.attrs().integer(Attr::channel_id, 0) > 0;
  if (i.attrs().flag(Attr::use_global_device_ids)) return Mode::kDevices;
  if (!channel) return Mode::kReplicas;
  // Reductions and all-gather say use_global_device_ids; the other ops have no such attribute.
  return i.def().has(kGlobalDeviceIds) ? Mode::kReplicasOfAllPartitions : Mode::kPartitions;
}

// A group of ids as groups of devices.
void spread(const DeviceList& ids, Mode mode, const Module& m, std::vector<DeviceList>& out) {
  auto each_other = [&](int64_t count, auto device) {
    for (int64_t other = 0; other < count; ++other) {
      out.emplace_back();
      for (int64_t id : ids) out.back().push_back(device(id, other));
    }
  };
  switch (mode) {
    case Mode::kDevices:
      return out.push_back(ids);
    case Mode::kReplicas:
      return each_other(m.num_partitions, [&](int64_t id, int64_t p) { return id * m.num_partitions + p; });
    case Mode::kPartitions:
      return each_other(m.replica_count, [&](int64_t id, int64_t r) { return r * m.num_partitions + id; });
    case Mode::kReplicasOfAllPartitions:
      out.emplace_back();
      for (int64_t id : ids)
        for (int64_t p = 0; p < m.num_partitions; ++p) out.back().push_back(id * m.num_partitions + p);
  }
}

int64_t id_limit(Mode mode, const Module& m) {
  switch (mode) {
    case Mode::kDevices:
      return m.replica_count * m.num_partitions;
    case Mode::kPartitions:
      return m.num_partitions;
    default:
      return m.replica_count;
  }
}

}  // namespace

std::vector<DeviceList> device_groups(const Instruction& i) {
  const Module& m = *i.module();
  const Mode mode = mode_of(i);
  const int64_t limit = id_limit(mode, m);
  std::vector<DeviceList> groups;
  if (i.has(Attr::replica_groups)) groups = parse_replica_groups(i.attrs().raw(Attr::replica_groups));
  std::erase_if(groups, [](const DeviceList& g) { return g.empty(); });
  if (groups.empty()) {
    groups.emplace_back(limit);
    std::iota(groups[0].begin(), groups[0].end(), 0);
  }
  std::vector<bool> seen(limit, false);
  for (const DeviceList& g : groups)
    for (int64_t id : g) {
      if (id < 0 || id >= limit)
        throw user_error(i,
                         "replica_groups name device {}, but there are {} (replica_count={}, "
                         "num_partitions={})",
                         id, limit, m.replica_count, m.num_partitions);
      if (seen[id]) throw user_error(i, "replica_groups name device {} twice", id);
      seen[id] = true;
    }
  std::vector<DeviceList> out;
  for (const DeviceList& g : groups) spread(g, mode, m, out);
  return out;
}

std::vector<std::pair<int64_t, int64_t>> device_pairs(const Instruction& i) {
  const Module& m = *i.module();
  const Mode mode = mode_of(i);
  const int64_t limit = id_limit(mode, m);
  Scanner in(i.attrs().raw(Attr::source_target_pairs), "source_target_pairs", kNesting);
  std::vector<std::pair<int64_t, int64_t>> out;
  std::vector<bool> sends(limit, false), receives(limit, false);
  for (const DeviceList& pair : read_lists(in)) {
    if (pair.size() != 2) throw user_error(i, "source_target_pairs hold a list of {} devices", pair.size());
    for (int64_t id : pair)
      if (id < 0 || id >= limit)
        throw user_error(i, "source_target_pairs name device {}, but there are {}", id, limit);
    if (receives[pair[1]]) throw user_error(i, "device {} is the target of two pairs", pair[1]);
    receives[pair[1]] = true;
    std::vector<DeviceList> devices;
    spread(pair, mode, m, devices);
    for (const DeviceList& d : devices) out.emplace_back(d[0], d[1]);
  }
  return out;
}

}  // namespace armillary
