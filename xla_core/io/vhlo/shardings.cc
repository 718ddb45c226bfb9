#include "xla_core/io/vhlo/shardings.h"

#include <algorithm>
#include <numeric>

#include "xla_core/io/device_proto.h"
#include "xla_core/io/vhlo/values.h"

namespace armillary::vhlo {
namespace {

using proto::OpSharding;

OpSharding of_type(OpSharding::Type type) {
  OpSharding sharding;
  sharding.set_type(type);
  return sharding;
}

// A whole axis of the mesh, or a part: the parts before it make up pre_size.
struct Axis {
  std::string_view name;
  int64_t pre_size, size;
  friend bool operator==(const Axis&, const Axis&) = default;
};

Axis axis_of(const Attribute& ref, const Attribute& mesh) {
  for (const Attribute* axis : mesh.items) {
    if (axis->text != ref.text) continue;
    if (ref.items.empty()) return {axis->text, 1, axis->number};
    const Dims& part = ref.items[0]->numbers;
    if (axis->number % part[0] != 0 || axis->number / part[0] % part[1] != 0)
      throw user_error("({}){} is no part of the axis {} of size {}", part[0], part[1], axis->text,
                       axis->number);
    return {axis->text, part[0], part[1]};
  }
  throw user_error("a sharding names the axis {}, which its mesh does not have", ref.text);
}

// The axes of the mesh in order, cut where a sharding uses parts of them.
std::vector<Axis> cut_axes(const Attribute& mesh, const std::vector<Axis>& used) {
  std::vector<Axis> axes;
  for (const Attribute* axis : mesh.items) {
    Dims cuts = {1, axis->number};
    for (const Axis& part : used)
      if (part.name == axis->text) cuts.insert(cuts.end(), {part.pre_size, part.pre_size * part.size});
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    if (cuts.size() == 1) axes.push_back({axis->text, 1, 1});
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
      if (cuts[i + 1] % cuts[i] != 0) throw user_error("parts of the axis {} overlap", axis->text);
      axes.push_back({axis->text, cuts[i], cuts[i + 1] / cuts[i]});
    }
  }
  return axes;
}

// Leaves out dimensions of one device and joins those that stay together.
void simplify_iota(Dims& dims, std::vector<int>& order) {
  std::vector<int> kept;
  for (int d : order)
    if (dims[d] != 1) kept.push_back(d);
  // Runs of neighbours, in the transposed order; each begins at its first dimension.
  std::vector<std::vector<int>> runs;
  for (int d : kept) {
    auto follows = [&](int before) {
      for (int between = before + 1; between < d; ++between)
        if (dims[between] != 1) return false;
      return before < d;
    };
    if (!runs.empty() && follows(runs.back().back()))
      runs.back().push_back(d);
    else
      runs.push_back({d});
  }
  std::vector<int> places(runs.size());
  std::iota(places.begin(), places.end(), 0);
  std::sort(places.begin(), places.end(), [&](int a, int b) { return runs[a][0] < runs[b][0]; });
  Dims joined;
  std::vector<int> perm(runs.size());
  for (size_t i = 0; i < places.size(); ++i) {
    int64_t size = 1;
    for (int d : runs[places[i]]) size *= dims[d];
    joined.push_back(size);
    perm[places[i]] = static_cast<int>(i);
  }
  if (joined.empty()) {
    joined = {1};
    perm = {0};
  }
  dims = std::move(joined);
  order = std::move(perm);
}

constexpr int64_t kMaxDevices = 1 << 20;  // a pod has some ten thousands

int64_t device_count(const std::vector<Axis>& axes) {
  int64_t n = 1;
  for (const Axis& axis : axes)
    if (__builtin_mul_overflow(n, axis.size, &n) || n > kMaxDevices)
      throw user_error("a mesh of too many devices");
  return n;
}

// Device ids in the order of the tiles, where the mesh lists them.
void set_devices(const Attribute& mesh, const Dims& dims, const std::vector<int>& order, OpSharding& out) {
  const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  if (static_cast<int64_t>(mesh.numbers.size()) != count)
    throw user_error("a mesh of {} devices lists {}", count, mesh.numbers.size());
  const Dims strides = strides_of(dims);
  Dims index(dims.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (size_t d = 0; d < order.size(); ++d) at += index[d] * strides[order[d]];
    out.add_tile_assignment_devices(mesh.numbers[at]);
    for (size_t d = order.size(); d-- > 0;) {
      if (++index[d] < dims[order[d]]) break;
      index[d] = 0;
    }
  }
}

}  // namespace

const Attribute& mesh_of(const Attribute& mesh, const Meshes& meshes) {
  if (mesh.kind == AttributeKind::kMesh) return mesh;
  const auto found = meshes.find(mesh.text);
  if (found == meshes.end()) throw user_error("there is no mesh @{}", mesh.text);
  return *found->second;
}

OpSharding read_sharding(std::string_view text) {
  OpSharding sharding;
  if (!text.starts_with('{')) {  // the first byte of a message is the number of a field
    if (!sharding.ParseFromArray(text.data(), static_cast<int>(text.size())))
      throw user_error("a sharding is neither a text nor an OpSharding");
    return sharding;
  }
  sharding_from_text(text, &sharding);
  return sharding;
}

OpSharding hlo_sharding(const Attribute& sharding, const Meshes& meshes) {
  if (sharding.kind != AttributeKind::kSharding) throw user_error("sdy.sharding is no sharding");
  const Attribute& mesh = mesh_of(*sharding.items[0], meshes);
  if (mesh.items.empty()) {
    OpSharding whole = of_type(mesh.numbers.empty() ? OpSharding::REPLICATED : OpSharding::MAXIMAL);
    if (!mesh.numbers.empty()) {
      whole.add_tile_assignment_dimensions(1);
      whole.add_tile_assignment_devices(mesh.numbers[0]);
    }
    return whole;
  }
  std::vector<Axis> used;
  Dims tiles;
  for (size_t d = 1; d < sharding.items.size(); ++d) {
    tiles.push_back(1);
    for (const Attribute* ref : sharding.items[d]->items) {
      used.push_back(axis_of(*ref, mesh));
      tiles.back() *= used.back().size;
    }
  }
  const size_t data_dims = tiles.size();
  std::vector<OpSharding::Type> types;
  if (!sharding.unreduced.empty()) {
    types.push_back(OpSharding::UNREDUCED);
    tiles.push_back(1);
    for (const Attribute* ref : sharding.unreduced) {
      used.push_back(axis_of(*ref, mesh));
      tiles.back() *= used.back().size;
    }
  }
  std::vector<Axis> cut_by = used;
  for (const Attribute* ref : sharding.replicated) cut_by.push_back(axis_of(*ref, mesh));
  const std::vector<Axis> axes = cut_axes(mesh, cut_by);
  device_count(axes);
  Dims dims;
  std::vector<int> order(used.size(), -1), replicated;
  int64_t replicas = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    dims.push_back(axes[i].size);
    const auto at = std::find(used.begin(), used.end(), axes[i]);
    if (at != used.end()) {
      order[at - used.begin()] = static_cast<int>(i);
    } else {
      replicated.push_back(static_cast<int>(i));
      replicas *= axes[i].size;
    }
  }
  if (std::find(order.begin(), order.end(), -1) != order.end())
    throw user_error("a sharding uses an axis of its mesh twice");
  order.insert(order.end(), replicated.begin(), replicated.end());
  if (replicas > 1) {
    tiles.push_back(replicas);
    types.push_back(OpSharding::REPLICATED);
  }
  // One kind of devices and no tiles: the kind says it all.
  const bool no_tiles =
      std::all_of(tiles.begin(), tiles.begin() + data_dims, [](int64_t n) { return n == 1; });
  if (no_tiles && types.size() == 1) return of_type(types[0]);
  OpSharding out = of_type(OpSharding::OTHER);
  for (int64_t n : tiles) out.add_tile_assignment_dimensions(n);
  if (!mesh.numbers.empty()) {
    set_devices(mesh, dims, order, out);
  } else {
    simplify_iota(dims, order);
    for (int64_t n : dims) out.add_iota_reshape_dims(n);
    for (int d : order) out.add_iota_transpose_perm(d);
  }
  if (types.size() == 1 && types[0] == OpSharding::REPLICATED)
    out.set_replicate_on_last_tile_dim(true);
  else
    for (OpSharding::Type type : types) out.add_last_tile_dims(type);
  return out;
}

OpSharding hlo_sharding_per_value(const Attribute& per_value, const Meshes& meshes, size_t results) {
  if (per_value.kind != AttributeKind::kShardingPerValue)
    throw user_error("sdy.sharding is no list of shardings");
  if (per_value.items.empty() || (per_value.items.size() != results && results != 0))
    throw user_error("{} shardings for {} results", per_value.items.size(), results);
  if (results == 1) return hlo_sharding(*per_value.items[0], meshes);
  OpSharding out = of_type(OpSharding::TUPLE);
  for (const Attribute* one : per_value.items) *out.add_tuple_shardings() = hlo_sharding(*one, meshes);
  return out;
}

OpSharding tuple_sharding(std::span<const Sharding> elements) {
  OpSharding out = of_type(OpSharding::TUPLE);
  for (const Sharding& one : elements) {
    if (!one)
      *out.add_tuple_shardings() = of_type(OpSharding::REPLICATED);
    else if (one->type() == OpSharding::TUPLE)
      out.mutable_tuple_shardings()->MergeFrom(one->tuple_shardings());
    else
      *out.add_tuple_shardings() = *one;
  }
  return out;
}

Sharding sharding_at(const Attribute* dictionary, const Meshes& meshes) {
  if (dictionary == nullptr) return std::nullopt;
  if (const Attribute* text = dictionary->find("mhlo.sharding")) return read_sharding(bytes_of(*text));
  if (const Attribute* sharding = dictionary->find("sdy.sharding")) return hlo_sharding(*sharding, meshes);
  return std::nullopt;
}

void set_sharding(Instruction* i, const Sharding& sharding) {
  if (sharding) i->attrs().set(Attr::sharding, RawText{sharding_text(*sharding), false});
}

}  // namespace armillary::vhlo
