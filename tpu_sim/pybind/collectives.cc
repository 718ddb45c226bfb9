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
#include "tpu_sim/pybind/bind.h"
#include "xla_core/base/error.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace armillary::sim {
namespace {

using ExtentsAndWraps = std::tuple<std::vector<int>, std::vector<bool>>;

ExtentsAndWraps torus_of(const Chip& chip, std::string_view shape) {
  ExtentsAndWraps out;
  for (const Axis& axis : make_topology(chip, shape).axes) {
    std::get<0>(out).push_back(axis.extent);
    std::get<1>(out).push_back(axis.wraps);
  }
  return out;
}

// Event runs keep every message of a phase in memory.
constexpr int kMostSimulatedChips = 4096;

Tick collective_ticks(const Chip& chip, std::string_view shape, const Collective& collective, bool events) {
  const Topology torus = make_topology(chip, shape);
  if (torus.chips() == 1) return closed_form(collective, torus, {});
  const LinkSpeed speed{chip["ici_bytes_per_s"] * chip["ici_efficiency"] / kTicksPerSecond,
                        static_cast<Tick>(chip["ici_hop_ns"] * 1e3)};
  if (speed.bytes_per_tick < 1e-9) throw user_error("chip {}: its links carry less than 1 kB/s", chip.name());
  if (!events) return closed_form(collective, torus, speed);
  if (torus.chips() > kMostSimulatedChips) {
    throw resource_error("{} chips: an event run takes at most {}", torus.chips(), kMostSimulatedChips);
  }
  nb::gil_scoped_release released;
  return simulate(collective, torus, speed).finish;
}

// With the launch; a group of one chip has nothing to launch.
double collective_seconds(const Chip& chip, std::string_view shape, std::string_view kind, int64_t bytes,
                          std::vector<int> axes, int shift, bool events) {
  const Collective collective{collective_from_name(kind), bytes, std::move(axes), shift};
  const Tick ticks = collective_ticks(chip, shape, collective, events);
  return ticks == 0 ? 0 : static_cast<double>(ticks) / kTicksPerSecond + chip["launch_ns"] * 1e-9;
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
  m.def("collective_seconds", collective_seconds, "chip"_a, "shape"_a, "kind"_a, "bytes"_a, "axes"_a,
        "shift"_a, "events"_a);
  m.def("loop_time", loop_dict, "tiles"_a, "dma_in"_a, "work"_a, "dma_out"_a, "latency"_a, "buffers"_a);
}

}  // namespace armillary::sim
