#include "xla_core/client/whole_arrays.h"

#include <cstring>

#include "xla_core/shape/index.h"
#include "xla_core/spmd/sharding.h"

namespace armillary {
namespace {

// One for each leaf.
std::vector<Sharding> shardings_of(const std::string& text, const Shape& shape, int64_t devices) {
  const std::vector<const Shape*> leaves = leaves_of(shape);
  std::vector<int64_t> ranks;
  std::vector<Sharding> out;
  for (const Shape* leaf : leaves) {
    ranks.push_back(leaf->rank());
    out.push_back(Sharding::replicated(leaf->rank(), devices));
  }
  if (text.empty()) return out;
  const std::vector<Annotation> said = parse_sharding(text, ranks, devices);
  for (size_t n = 0; n < out.size() && n < said.size(); ++n)
    if (said[n].kind == Annotation::kTiled) out[n] = said[n].sharding;
  return out;
}

// Row by row between a whole array and the tile of a device.
template <class Copy>
void for_each_row(const Shape& whole, const Shape& tile, const Dims& coordinates, Copy copy) {
  const int64_t size = byte_size(whole.dtype);
  if (whole.rank() == 0) return copy(0, 0, size);
  Dims rows = tile.dims;
  const int64_t run = rows.back();
  rows.back() = 1;
  const Dims whole_strides = strides_of(whole.dims), tile_strides = strides_of(tile.dims);
  for_each_index(rows, [&](std::span<const int64_t> index) {
    int64_t in_whole = 0, in_tile = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      in_whole += (index[d] + coordinates[d] * tile.dims[d]) * whole_strides[d];
      in_tile += index[d] * tile_strides[d];
    }
    copy(in_whole * size, in_tile * size, run * size);
  });
}

Literal cut(const Literal& whole, const Sharding& sharding, int64_t device) {
  if (sharding.is_replicated()) return whole;
  Literal tile(sharding.local(whole.shape()));
  for_each_row(whole.shape(), tile.shape(), sharding.coordinates(device),
               [&](int64_t from, int64_t to, int64_t bytes) {
                 std::memcpy(tile.bytes() + to, whole.bytes() + from, bytes);
               });
  return tile;
}

Literal joined(const std::vector<std::vector<Literal>>& of_devices, size_t leaf, const Sharding& sharding) {
  const Literal& first = of_devices[0][leaf];
  if (sharding.is_replicated() || !first.shape().is_array()) return first;
  Shape shape = first.shape();
  for (size_t d = 0; d < shape.dims.size(); ++d) shape.dims[d] *= sharding.tiles[d];
  Literal whole(shape);
  for (size_t device = 0; device < of_devices.size(); ++device) {
    const Literal& tile = of_devices[device][leaf];
    for_each_row(shape, tile.shape(), sharding.coordinates(static_cast<int64_t>(device)),
                 [&](int64_t to, int64_t from, int64_t bytes) {
                   std::memcpy(whole.bytes() + to, tile.bytes() + from, bytes);
                 });
  }
  return whole;
}

}  // namespace

std::vector<Literal> execute_on_whole_arrays(const Executable& executable,
                                             std::span<const Argument> arguments) {
  const Module& m = executable.module();
  const int64_t devices = executable.program().num_devices();
  std::vector<Sharding> wanted;
  for (const Instruction* p : m.entry()->parameters())
    for (Sharding& s : shardings_of(p->attrs().raw(Attr::sharding), p->shape(), devices))
      wanted.push_back(std::move(s));
  if (wanted.size() != arguments.size())
    throw user_error("{} takes {} arrays, but got {}", m.name(), wanted.size(), arguments.size());
  std::vector<std::vector<Argument>> of_devices(devices);
  for (size_t n = 0; n < arguments.size(); ++n) {
    const bool fits = arguments[n].value.shape().rank() == static_cast<int64_t>(wanted[n].tiles.size());
    if (!fits || !wanted[n].divides(arguments[n].value.shape()))
      throw user_error("argument {} of {} is {}, which cannot be cut as {}", n, m.name(),
                       to_string(arguments[n].value.shape()), to_string(wanted[n]));
    for (int64_t d = 0; d < devices; ++d)
      of_devices[d].push_back({cut(arguments[n].value, wanted[n], d), false});
  }
  const std::vector<std::vector<Literal>> results = executable.execute_on_devices(of_devices);
  const std::vector<Sharding> given =
      shardings_of(m.result_sharding, executable.program().result_shape, devices);
  std::vector<Literal> out;
  for (size_t leaf = 0; leaf < given.size(); ++leaf) out.push_back(joined(results, leaf, given[leaf]));
  return out;
}

}  // namespace armillary
