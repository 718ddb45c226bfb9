#include "xla_core/hlo/device_groups.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "xla_core/hlo/mesh.h"
#include "xla_core/hlo/module.h"
#include "xla_core/hlo/scanner.h"

namespace armillary {
namespace {

constexpr int kNesting = 10;
constexpr int64_t kMostDevices = int64_t{1} << 20;

std::vector<DeviceList> read_lists(Scanner& in) {
  std::vector<DeviceList> out;
  in.expect('{', "to open the groups");
  in.list('}', "between groups", [&] {
    in.expect('{', "to open a group");
    out.push_back(in.integers('}'));
  });
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
  const DeviceList shape = in.integers(']');
  const DeviceList order = read_device_order(in);
  if (shape.size() != 2 || shape[0] * shape[1] != static_cast<int64_t>(order.size()))
    throw in.error(at, "the groups do not hold {} devices", order.size());
  return cut(order, shape[0], shape[1]);
}

// The axes named, in the order given, number the ranks; devices that differ on others are in other groups.
std::vector<DeviceList> read_mesh_groups(Scanner& in) {
  const Mesh mesh = read_hlo_mesh(in);
  std::vector<AxisPart> axes;
  int64_t size = 1;
  const size_t at = in.next_position();
  in.expect('{', "to open the axes of the groups");
  in.list('}', "between axes", [&] {
    axes.push_back(read_axis(in, mesh, '\''));
    size *= axes.back().size;
  });
  std::map<int64_t, DeviceList> groups;  // by the position of their first member
  for (size_t position = 0; position < mesh.devices.size(); ++position) {
    auto first = static_cast<int64_t>(position);
    int64_t rank = 0;
    for (const AxisPart& a : axes) {
      const int64_t here = coordinate(mesh, static_cast<int64_t>(position), a);
      first -= here * stride(mesh, a);
      rank = rank * a.size + here;
    }
    DeviceList& group = groups[first];
    group.resize(size, -1);
    group[rank] = mesh.devices[position];
  }
  std::vector<DeviceList> out;
  for (auto& [first, group] : groups) {
    if (std::find(group.begin(), group.end(), -1) != group.end())
      throw in.error(at, "an axis of the groups comes twice");
    out.push_back(std::move(group));
  }
  return out;
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
  const DeviceList dims = in.integers(']');
  DeviceList permutation(dims.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  if (in.accept('T')) {
    in.expect('(', "to open the transposition");
    permutation = in.integers(')');
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
