// Topologies, collectives on them, and the tile loop.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include "tpu_sim/core/tile_loop.h"
#include "tpu_sim/ici/collective.h"
#include "tpu_sim/pod/collective_time.h"
#include "tpu_sim/pybind/bind.h"
#include "xla_core/base/error.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace armillary::sim {
namespace {

using ExtentsAndWraps = std::tuple<std::vector<int>, std::vector<bool>>;

ExtentsAndWraps torus_of(const Chip& chip, std::string_view shape) {
  ExtentsAndWraps out;
  for (const Axis& axis : parse_pod(shape, chip).torus.axes) {
    std::get<0>(out).push_back(axis.extent);
    std::get<1>(out).push_back(axis.wraps);
  }
  return out;
}

// Event runs keep every message of a phase in memory.
constexpr int kMostSimulatedChips = 4096;

// Groups that span the axes given, and the devices of a chip if asked to.
Box box_over(const std::vector<int>& axes, bool across_cores, const Pod& pod) {
  Box box;
  box.axes.resize(pod.torus.axes.size());
  std::vector<int> seen;
  for (int axis : axes) {
    if (axis >= static_cast<int>(box.axes.size())) {
      throw user_error("axis {}, but the topology has {} axes", axis, box.axes.size());
    }
    if (std::ranges::count(seen, axis)) throw user_error("axis {} twice", axis);
    seen.push_back(axis);
    box.axes[axis].count = pod.torus.axes[axis].extent;
  }
  if (across_cores) box.cores.count = pod.devices_per_chip;
  return box;
}

double seconds_over_axes(const Chip& chip, std::string_view shape, std::string_view kind, int64_t bytes,
                         const std::vector<int>& axes, int shift, bool across_cores, bool events) {
  const Pod pod = parse_pod(shape, chip);
  const Collective collective{collective_from_name(kind), bytes, {}, shift};
  if (collective.kind == CollectiveKind::kCollectivePermute && axes.size() != 1) {
    throw user_error("collective-permute shifts along one axis, but {} are given", axes.size());
  }
  if (events && pod.torus.chips() > kMostSimulatedChips) {
    throw resource_error("{} chips: an event run takes at most {}", pod.torus.chips(), kMostSimulatedChips);
  }
  nb::gil_scoped_release released;
  const CollectiveTime time = box_time(collective, box_over(axes, across_cores, pod), pod, events);
  return static_cast<double>(time.launch + time.transfer) / kTicksPerSecond;
}

nb::dict loop_dict(int64_t tiles, int64_t dma_in, const std::vector<int64_t>& work, int64_t dma_out,
                   int64_t latency, int buffers) {
  if (work.size() != kNumUnits)
    throw user_error("work has {} units, but there are {}", work.size(), kNumUnits);
  TileLoop loop{tiles, dma_in, {}, dma_out, latency, buffers};
  std::ranges::copy(work, loop.work.begin());
  const LoopTime time = loop_time(loop);
  nb::dict out;
  out["prologue"] = time.prologue;
  out["steady"] = time.steady;
  out["epilogue"] = time.epilogue;
  out["total"] = time.total();
  out["bound"] = nb::str(time.bound.data(), time.bound.size());
  return out;
}

}  // namespace

void bind_collectives(nb::module_& m) {
  m.def("torus", torus_of, "chip"_a, "shape"_a);
  m.def("collective_seconds", seconds_over_axes, "chip"_a, "shape"_a, "kind"_a, "bytes"_a, "axes"_a,
        "shift"_a, "across_cores"_a, "events"_a);
  m.def("loop_time", loop_dict, "tiles"_a, "dma_in"_a, "work"_a, "dma_out"_a, "latency"_a, "buffers"_a);
}

}  // namespace armillary::sim
