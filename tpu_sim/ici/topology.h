// A slice of a pod: chips on a torus or mesh of one to three axes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tpu_sim/spec/chip.h"

namespace armillary::sim {

struct Axis {
  int extent = 1;
  bool wraps = false;
};

// Chips are numbered with the first axis slowest.
struct Topology {
  std::vector<Axis> axes;

  int chips() const;
  // The chip `steps` further along an axis, or -1 past an end that does not wrap.
  int neighbour(int chip, int axis, int steps) const;
  int coordinate(int chip, int axis) const;
  int stride(int axis) const;
};

// "v5e:4x4", "v5p:4x4x4". With "+2" behind it: that many slices, joined by the data centre's network.
struct Slices {
  const Chip* chip = nullptr;
  Topology torus;
  int count = 1;
};

// Throws a user error on an unknown chip, a shape that does not parse, or one larger than the chip's pod.
Slices parse_slices(std::string_view text);
Slices parse_slices(const Chip& chip, std::string_view shape);  // "4x4", "4x4+2"

// The same for a chip that has no row here: checks the extents against its pod and applies its wrap rule.
Topology make_topology(const Chip& chip, std::string_view shape);

}  // namespace armillary::sim
