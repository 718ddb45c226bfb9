// A collective as phases on single axes: what the event simulation and the closed form have in common.
#pragma once

#include <cstdint>
#include <vector>

#include "tpu_sim/ici/collective.h"

namespace armillary::sim {

// One axis' work in a phase. `bytes`: the piece a chip holds (all-gather), ends up with (reduce-scatter), has
// for each other (all-to-all), or sends (collective-permute).
struct Stage {
  CollectiveKind kind;
  int axis = 0;
  int64_t bytes = 0;
  int shift = 0;
};

using Phase = std::vector<Stage>;  // at once, each on an axis of its own

std::vector<Phase> make_plan(const Collective& collective, const Topology& torus);

// A message along one axis: bytes[i] go over hop i.
struct Walk {
  int start = 0;
  int axis = 0;
  int direction = 1;
  bool copies =
      false;  // each chip on the way keeps, or adds to, all that passes; else only what does not go on
  std::vector<int64_t> bytes;
};

// The walks of a stage on all chips, in the order in which they enter a link they share: longest first.
std::vector<Walk> make_walks(const Stage& stage, const Topology& torus);

}  // namespace armillary::sim
