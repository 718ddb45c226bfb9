#include "tpu_sim/ici/plan.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr std::array<std::pair<std::string_view, CollectiveKind>, 5> kKinds = {
    {{"all-gather", CollectiveKind::kAllGather},
     {"reduce-scatter", CollectiveKind::kReduceScatter},
     {"all-reduce", CollectiveKind::kAllReduce},
     {"all-to-all", CollectiveKind::kAllToAll},
     {"collective-permute", CollectiveKind::kCollectivePermute}}};

// Bytes times the hops of the largest torus stay far below 2^63.
constexpr int64_t kLargestBytes = int64_t{1} << 50;

int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

void check(const Collective& c, const Topology& torus) {
  if (c.bytes < 0 || c.bytes > kLargestBytes) {
    throw user_error("{} of {} bytes, but must be from 0 to {}", to_string(c.kind), c.bytes, kLargestBytes);
  }
  std::vector<int> seen;
  for (int axis : c.axes) {
    if (axis < 0 || axis >= static_cast<int>(torus.axes.size())) {
      throw user_error("{} over axis {}, but the topology has {} axes", to_string(c.kind), axis,
                       torus.axes.size());
    }
    if (std::ranges::count(seen, axis)) throw user_error("{} over axis {} twice", to_string(c.kind), axis);
    seen.push_back(axis);
  }
  if (c.kind == CollectiveKind::kCollectivePermute && c.axes.size() != 1) {
    throw user_error("collective-permute shifts along one axis, but {} are given", c.axes.size());
  }
}

// Which axis part `part` works on in phase `phase`: all parts on different ones.
int axis_of(const std::vector<int>& axes, size_t part, size_t phase) {
  return axes[(part + phase) % axes.size()];
}

// Scattering takes the axes in turn, pieces shrinking; gathering goes the same way back.
std::vector<Phase> scatter_phases(int64_t bytes, const std::vector<int>& axes, const Topology& torus) {
  std::vector<int64_t> piece(axes.size(), ceil_div(bytes, static_cast<int64_t>(axes.size())));
  std::vector<Phase> phases(axes.size());
  for (size_t phase = 0; phase < axes.size(); ++phase) {
    for (size_t part = 0; part < axes.size(); ++part) {
      const int axis = axis_of(axes, part, phase);
      piece[part] = ceil_div(piece[part], torus.axes[axis].extent);
      phases[phase].push_back({CollectiveKind::kReduceScatter, axis, piece[part]});
    }
  }
  return phases;
}

std::vector<Phase> gather_phases(int64_t bytes, const std::vector<int>& axes, const Topology& torus) {
  std::vector<Phase> phases = scatter_phases(bytes, axes, torus);
  std::ranges::reverse(phases);
  for (Phase& phase : phases) {
    for (Stage& stage : phase) stage.kind = CollectiveKind::kAllGather;
  }
  return phases;
}

// Each phase deals a part's buffer out along one axis: to every chip there what it, or those behind it, shall
// have.
std::vector<Phase> deal_phases(int64_t bytes, const std::vector<int>& axes, const Topology& torus) {
  std::vector<Phase> phases(axes.size());
  const int64_t part_bytes = ceil_div(bytes, static_cast<int64_t>(axes.size()));
  for (size_t phase = 0; phase < axes.size(); ++phase) {
    for (size_t part = 0; part < axes.size(); ++part) {
      const int axis = axis_of(axes, part, phase);
      phases[phase].push_back(
          {CollectiveKind::kAllToAll, axis, ceil_div(part_bytes, torus.axes[axis].extent)});
    }
  }
  return phases;
}

// Bytes of each hop of what chip `at` of the axis sends in one direction. On a ring both directions share the
// way; of an even one, the opposite chip gets half from either side.
std::vector<int64_t> hops_of(const Stage& s, const Axis& axis, int at, int direction) {
  const int64_t half = direction > 0 ? s.bytes - s.bytes / 2 : s.bytes / 2;
  const bool split = axis.wraps && axis.extent % 2 == 0;
  const int whole = axis.wraps ? (axis.extent - 1) / 2 : direction > 0 ? axis.extent - 1 - at : at;
  std::vector<int64_t> bytes;
  if (s.kind == CollectiveKind::kAllToAll) {
    for (int left = whole; left > 0; --left) bytes.push_back(left * s.bytes + (split ? half : 0));
  } else {
    bytes.assign(whole, s.bytes);
  }
  if (split) bytes.push_back(half);
  std::erase(bytes, 0);
  return bytes;
}

// A shift on a ring goes the shorter way; on a line those that would leave the end go all the way back.
Walk shift_walk(const Stage& s, const Topology& torus, int chip) {
  const auto [extent, wraps] = torus.axes[s.axis];
  const int forward = (s.shift % extent + extent) % extent, back = extent - forward;
  const bool onward = wraps ? forward <= back : torus.coordinate(chip, s.axis) + forward < extent;
  const int hops = forward == 0 || s.bytes == 0 ? 0 : onward ? forward : back;
  return {chip, s.axis, onward ? 1 : -1, false, std::vector<int64_t>(hops, s.bytes)};
}

}  // namespace

CollectiveKind collective_from_name(std::string_view name) {
  std::string known;
  for (const auto& [text, kind] : kKinds) {
    if (text == name) return kind;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  throw user_error("there is no collective '{}'; there are {}", name, known);
}

std::string_view to_string(CollectiveKind kind) { return kKinds[static_cast<size_t>(kind)].first; }

std::vector<Phase> make_plan(const Collective& c, const Topology& torus) {
  check(c, torus);
  if (c.kind == CollectiveKind::kCollectivePermute) return {{{c.kind, c.axes[0], c.bytes, c.shift}}};
  std::vector<int> axes;
  std::ranges::copy_if(c.axes, std::back_inserter(axes),
                       [&](int axis) { return torus.axes[axis].extent > 1; });
  if (axes.empty()) return {};
  if (c.kind == CollectiveKind::kAllGather) return gather_phases(c.bytes, axes, torus);
  if (c.kind == CollectiveKind::kAllToAll) return deal_phases(c.bytes, axes, torus);
  std::vector<Phase> phases = scatter_phases(c.bytes, axes, torus);
  if (c.kind == CollectiveKind::kAllReduce) {
    for (Phase& phase : gather_phases(c.bytes, axes, torus)) phases.push_back(std::move(phase));
  }
  return phases;
}

std::vector<Walk> make_walks(const Stage& s, const Topology& torus) {
  std::vector<Walk> walks;
  const Axis& axis = torus.axes[s.axis];
  for (int chip = 0; chip < torus.chips(); ++chip) {
    if (s.kind == CollectiveKind::kCollectivePermute) {
      walks.push_back(shift_walk(s, torus, chip));
      continue;
    }
    for (int direction : {1, -1}) {
      Walk walk{chip, s.axis, direction, s.kind != CollectiveKind::kAllToAll,
                hops_of(s, axis, torus.coordinate(chip, s.axis), direction)};
      if (s.kind ==
          CollectiveKind::kReduceScatter) {  // an all-gather run backwards: from the far end to this chip
        walk.start = torus.neighbour(chip, s.axis, direction * static_cast<int>(walk.bytes.size()));
        walk.direction = -direction;
        std::ranges::reverse(walk.bytes);
      }
      walks.push_back(std::move(walk));
    }
  }
  std::erase_if(walks, [](const Walk& w) { return w.bytes.empty(); });
  std::ranges::stable_sort(walks, std::greater(), [](const Walk& w) { return w.bytes.size(); });
  return walks;
}

}  // namespace armillary::sim
