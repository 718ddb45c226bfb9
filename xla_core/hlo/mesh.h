// Devices in a grid with named axes.
#pragma once

#include <string>
#include <vector>

#include "xla_core/hlo/device_groups.h"

namespace armillary {

struct Mesh {
  std::vector<std::string> names;
  Dims sizes;
  DeviceList devices;  // row-major over the axes
};

// An axis, or the part of it that has `before` parts of it on the outside.
struct AxisPart {
  size_t axis;
  int64_t before = 1, size = 1;
};

// `['a'=2,'b'=2]`: axes between quotes of the given kind; devices count from 0.
Mesh read_axes(Scanner& in, char quote);
// `mesh['a'=2,'b'=2], device_ids=(...)`, the latter if it is there.
Mesh read_hlo_mesh(Scanner& in);
// `'a'` or `'a':(2)4`.
AxisPart read_axis(Scanner& in, const Mesh& mesh, char quote);
// Throws unless there is a device for each place of the mesh.
void check_devices(Scanner& in, const Mesh& mesh);

// How far apart the neighbours along a part are in the mesh, and where a position lies along it.
int64_t stride(const Mesh& mesh, const AxisPart& part);
int64_t coordinate(const Mesh& mesh, int64_t position, const AxisPart& part);

}  // namespace armillary
