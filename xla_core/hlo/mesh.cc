#include "xla_core/hlo/mesh.h"

#include <algorithm>
#include <numeric>

#include "xla_core/hlo/scanner.h"

namespace armillary {
namespace {

constexpr int64_t kMostDevices = int64_t{1} << 20;

std::string read_name(Scanner& in, char quote) {
  if (quote == '"') return in.string("the name of an axis");
  in.expect(quote, "before the name of an axis");
  const std::string name(in.identifier("the name of an axis"));
  in.expect(quote, "after the name of an axis");
  return name;
}

}  // namespace

Mesh read_axes(Scanner& in, char quote) {
  Mesh mesh;
  in.expect('[', "to open the axes of a mesh");
  int64_t total = 1;
  in.list(']', "between axes", [&] {
    mesh.names.push_back(read_name(in, quote));
    in.expect('=', "after the name of an axis");
    const size_t at = in.position();
    mesh.sizes.push_back(in.integer("the size of an axis"));
    if (mesh.sizes.back() < 1 || mesh.sizes.back() > kMostDevices / total)
      throw in.error(at, "a mesh of more than {} devices", kMostDevices);
    total *= mesh.sizes.back();
  });
  mesh.devices.resize(total);
  std::iota(mesh.devices.begin(), mesh.devices.end(), 0);
  return mesh;
}

void check_devices(Scanner& in, const Mesh& mesh) {
  const int64_t total =
      std::accumulate(mesh.sizes.begin(), mesh.sizes.end(), int64_t{1}, std::multiplies<>());
  if (static_cast<int64_t>(mesh.devices.size()) != total)
    throw in.error(in.position(), "a mesh of {} devices lists {}", total, mesh.devices.size());
}

Mesh read_hlo_mesh(Scanner& in) {
  in.expect("mesh", "to name a mesh");
  Mesh mesh = read_axes(in, '\'');
  const size_t here = in.position();
  if (!in.accept(',') || !in.accept("device_ids=(")) {
    in.seek(here);
    return mesh;
  }
  if (in.peek() == '[') {
    mesh.devices = read_device_order(in, false);
    in.expect(')', "to close the device ids");
  } else {
    mesh.devices = in.integers(')');
  }
  check_devices(in, mesh);
  return mesh;
}

AxisPart read_axis(Scanner& in, const Mesh& mesh, char quote) {
  const size_t at = in.next_position();
  const std::string name = read_name(in, quote);
  const auto found = std::find(mesh.names.begin(), mesh.names.end(), name);
  if (found == mesh.names.end()) throw in.error(at, "the mesh has no axis {}", name);
  AxisPart part{static_cast<size_t>(found - mesh.names.begin())};
  part.size = mesh.sizes[part.axis];
  if (!in.accept(':')) return part;
  in.expect('(', "to open the pre-size");
  part.before = in.integer("a pre-size");
  in.expect(')', "to close the pre-size");
  part.size = in.integer("the size of a part of an axis");
  const int64_t whole = mesh.sizes[part.axis];
  if (part.before < 1 || part.size < 1 || part.before > whole || part.size > whole ||
      whole % (part.before * part.size) != 0)
    throw in.error(at, "axis {} of size {} has no part ({}){}", name, whole, part.before, part.size);
  return part;
}

int64_t stride(const Mesh& mesh, const AxisPart& part) {
  int64_t out = mesh.sizes[part.axis] / part.before / part.size;
  for (size_t a = part.axis + 1; a < mesh.sizes.size(); ++a) out *= mesh.sizes[a];
  return out;
}

int64_t coordinate(const Mesh& mesh, int64_t position, const AxisPart& part) {
  return position / stride(mesh, part) % part.size;
}

}  // namespace armillary
