#include "tpu_sim/pod/collective_time.h"

#include <algorithm>
#include <functional>

#include "tpu_sim/core/units.h"
#include "tpu_sim/ici/collective.h"
#include "tpu_sim/ici/messages.h"
#include "tpu_sim/pod/groups.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr int64_t kLargestBytes = int64_t{1} << 50;

using TimeOnTorus = std::function<Tick(const Collective&, const Topology&, LinkSpeed)>;

double as_double(int64_t value) { return static_cast<double>(value); }

LinkSpeed link_speed(const Chip& chip) {
  const LinkSpeed speed{chip["ici_bytes_per_s"] * chip["ici_efficiency"] / kTicksPerSecond,
                        static_cast<Tick>(chip["ici_hop_ns"] * 1e3)};
  if (speed.bytes_per_tick < 1e-9) throw user_error("chip {}: its links carry less than 1 kB/s", chip.name());
  return speed;
}

void check_bytes(CollectiveKind kind, int64_t bytes) {
  if (bytes < 0 || bytes > kLargestBytes) {
    throw user_error("{} of {} bytes, but must be from 0 to {}", to_string(kind), bytes, kLargestBytes);
  }
}

Tick every_message(const Collective& collective, const Topology& torus, LinkSpeed speed) {
  return simulate(collective, torus, speed).finish;
}

// The parts of a collective over a box, one after the other: within the chip, on the torus, between slices.
class BoxTime {
 public:
  BoxTime(const Collective& c, const Box& box, const Pod& pod, const TimeOnTorus& on_torus)
      : kind_(c.kind), bytes_(c.bytes), shift_(c.shift), box_(box), pod_(pod), on_torus_(on_torus) {}

  CollectiveTime operator()() {
    CollectiveTime time;
    if (bytes_ == 0 || box_.devices() == 1) return time;
    time.launch = to_ticks(pod_.chip["launch_ns"] * 1e3);
    time.ici = on_torus(time.resources);
    time.dcn = between_slices(time.resources);
    time.transfer = between_cores(time.resources) + time.ici + time.dcn;
    return time;
  }

 private:
  int rounds() const { return kind_ == CollectiveKind::kAllReduce ? 2 : 1; }

  // Each device has its share of what the chip has got, and gives it to the others.
  Tick between_cores(unsigned& resources) const {
    if (box_.cores.count == 1) return 0;
    resources |= kCoreLink;
    const double share = as_double(bytes_) * (box_.cores.count - 1) / box_.cores.count;
    const double speed = pod_.chip["core_link_bytes_per_s"] / kTicksPerSecond;
    return rounds() * to_ticks(share / speed + pod_.chip["ici_hop_ns"] * 1e3);
  }

  // Groups that do not span the cores of a chip share its links with those of the other cores; groups with a
  // stride with those between.
  Tick on_torus(unsigned& resources) const {
    Topology torus;
    LinkSpeed speed{1, 0};
    int stride = 1;
    for (size_t i = 0; i < box_.axes.size(); ++i) {
      const Reach& reach = box_.axes[i];
      const Axis& axis = pod_.torus.axes[i];
      torus.axes.push_back({reach.count, axis.wraps && reach.count * reach.stride == axis.extent});
      if (reach.count == 1) continue;
      resources |= 1u << i;
      stride = std::max(stride, reach.stride);
    }
    if (torus.chips() == 1) return 0;
    speed = link_speed(pod_.chip);
    const int sharing = stride * (pod_.devices_per_chip / box_.cores.count);
    speed.bytes_per_tick /= sharing;
    speed.hop *= stride;
    Collective collective{kind_, bytes_on_links(), {}, shift_};
    for (size_t i = 0; i < torus.axes.size(); ++i) {
      if (torus.axes[i].extent > 1) collective.axes.push_back(static_cast<int>(i));
    }
    return on_torus_(collective, torus, speed);
  }

  // In an all-to-all every core of a chip has a buffer of its own to send.
  int64_t bytes_on_links() const {
    return kind_ == CollectiveKind::kAllToAll ? bytes_ * box_.cores.count : bytes_;
  }

  // Each device exchanges its shard of the slice's buffer with its fellows in the other slices; the devices
  // of a host share its network.
  Tick between_slices(unsigned& resources) const {
    if (box_.slices.count == 1) return 0;
    resources |= kDcn;
    const int in_slice = box_.chips() * box_.cores.count;
    const double n = box_.slices.count;
    const double shard =
        kind_ == CollectiveKind::kAllToAll ? as_double(bytes_) : as_double(bytes_) / in_slice;
    const double on_host =
        std::min<double>(pod_.chip["chips_per_host"], pod_.torus.chips()) * pod_.devices_per_chip;
    const double speed = pod_.chip["dcn_bytes_per_s"] / kTicksPerSecond;
    return rounds() * to_ticks(shard * on_host * (n - 1) / n / speed + pod_.chip["dcn_latency_ns"] * 1e3);
  }

  CollectiveKind kind_;
  int64_t bytes_;
  int shift_;
  const Box& box_;
  const Pod& pod_;
  const TimeOnTorus& on_torus_;
};

// Messages between devices, all at once: over the links, between the cores of a chip, between slices.
class MessageTime {
 public:
  MessageTime(const DevicePairs& pairs, int64_t bytes, const Pod& pod)
      : bytes_(bytes), pod_(pod), on_torus_(pod.slices), leaving_(pod.devices()) {
    for (const auto& [from, to] : pairs) {
      if (bytes > 0 && from != to) add(place_of(from, pod), place_of(to, pod));
    }
  }

  CollectiveTime operator()() {
    if (busiest_host_ > 0) {
      time_.dcn = take(kDcn, as_double(bytes_) * as_double(busiest_host_), pod_.chip["dcn_bytes_per_s"],
                       pod_.chip["dcn_latency_ns"]);
    }
    if (between_cores_)
      take(kCoreLink, as_double(bytes_), pod_.chip["core_link_bytes_per_s"], pod_.chip["ici_hop_ns"]);
    for (const std::vector<Message>& messages : on_torus_) {
      if (messages.empty()) continue;
      time_.ici = std::max(time_.ici, simulate_messages(messages, pod_.torus, link_speed(pod_.chip)));
    }
    time_.transfer = std::max(time_.transfer, time_.ici);
    if (time_.resources != 0) time_.launch = to_ticks(pod_.chip["launch_ns"] * 1e3);
    return time_;
  }

 private:
  void add(const Place& from, const Place& to) {
    if (from.slice != to.slice) {
      const int host =
          (from.slice * pod_.torus.chips() + from.chip) / static_cast<int>(pod_.chip["chips_per_host"]);
      busiest_host_ = std::max(busiest_host_, ++leaving_[host]);
    } else if (from.chip == to.chip) {
      between_cores_ = true;
    } else {
      on_torus_[from.slice].push_back({from.chip, to.chip, bytes_});
      for (int axis = 0; axis < static_cast<int>(pod_.torus.axes.size()); ++axis) {
        const bool goes_along =
            pod_.torus.coordinate(from.chip, axis) != pod_.torus.coordinate(to.chip, axis);
        if (goes_along) time_.resources |= 1u << axis;
      }
    }
  }

  Tick take(unsigned resource, double bytes, double bytes_per_s, double latency_ns) {
    const Tick ticks = to_ticks(bytes / bytes_per_s * kTicksPerSecond + latency_ns * 1e3);
    time_.resources |= resource;
    time_.transfer = std::max(time_.transfer, ticks);
    return ticks;
  }

  int64_t bytes_;
  const Pod& pod_;
  CollectiveTime time_;
  std::vector<std::vector<Message>> on_torus_;  // of each slice
  std::vector<int64_t> leaving_;                // messages between slices, by host
  int64_t busiest_host_ = 0;
  bool between_cores_ = false;
};

CollectiveTime message_time(const DevicePairs& pairs, int64_t bytes, const Pod& pod) {
  return MessageTime(pairs, bytes, pod)();
}

// Everybody sends to the member `shift` further in the group, round its end.
DevicePairs shifted(const DeviceGroups& groups, size_t shift) {
  DevicePairs pairs;
  for (const std::vector<int>& group : groups) {
    for (size_t i = 0; i < group.size(); ++i) pairs.push_back({group[i], group[(i + shift) % group.size()]});
  }
  return pairs;
}

// Rings in the order of the groups' members, one way round; an all-to-all sends to each member in turn.
CollectiveTime ring_time(const CollectiveStart& c, const Pod& pod) {
  size_t members = 1;
  for (const std::vector<int>& group : *c.groups) members = std::max(members, group.size());
  if (members == 1 || c.bytes == 0) return {};
  const int64_t n = static_cast<int64_t>(members), piece = (c.bytes + n - 1) / n;
  const bool deals = c.kind == CollectiveKind::kAllToAll;
  // The shift by half the group stands for all of them.
  CollectiveTime time = message_time(shifted(*c.groups, deals ? members / 2 : 1), piece, pod);
  const double rounds = as_double(n - 1) * (c.kind == CollectiveKind::kAllReduce ? 2 : 1);
  for (Tick* ticks : {&time.transfer, &time.ici, &time.dcn}) *ticks = to_ticks(as_double(*ticks) * rounds);
  time.note = fmt::format(
      "{} over groups of {} that follow no axes of the torus: priced as rings in the order of their members",
      to_string(c.kind), members);
  return time;
}

// What passes a device is read once and written once, and it passes as often as there are rounds.
Tick memory_ticks(CollectiveKind kind, int64_t bytes, Tick transfer, const Pod& pod) {
  const int rounds = kind == CollectiveKind::kAllReduce ? 2 : 1;
  return std::min(transfer, hbm_ticks(2 * rounds * bytes, 0, Device(pod.chip)));
}

CollectiveTime time_of(const CollectiveStart& c, const Pod& pod, const TimeOnTorus& on_torus) {
  check_bytes(c.kind, c.bytes);
  if (c.kind == CollectiveKind::kCollectivePermute) {
    if (!c.pairs) throw user_error("a collective-permute without pairs");
    check_pairs(*c.pairs, pod);
    return message_time(*c.pairs, c.bytes, pod);
  }
  const bool everyone = !c.groups || c.groups->empty();
  if (!everyone) check_groups(*c.groups, pod);
  const auto box = everyone ? whole_pod(pod) : box_of(*c.groups, pod);
  return box ? BoxTime({c.kind, c.bytes, {}, 1}, *box, pod, on_torus)() : ring_time(c, pod);
}

CollectiveTime with_memory(CollectiveTime time, const CollectiveStart& c, const Pod& pod) {
  time.hbm = memory_ticks(c.kind, c.bytes, time.transfer, pod);
  return time;
}

}  // namespace

CollectiveTime collective_time(const CollectiveStart& c, const Pod& pod) {
  return with_memory(time_of(c, pod, closed_form), c, pod);
}

CollectiveTime simulate_collective(const CollectiveStart& c, const Pod& pod) {
  return with_memory(time_of(c, pod, every_message), c, pod);
}

CollectiveTime box_time(const Collective& c, const Box& box, const Pod& pod, bool events) {
  check_bytes(c.kind, c.bytes);
  return BoxTime(c, box, pod, events ? TimeOnTorus(every_message) : TimeOnTorus(closed_form))();
}

double collective_seconds(const CollectiveStart& c, const Pod& pod) {
  const CollectiveTime time = collective_time(c, pod);
  return as_double(time.launch + time.transfer) / kTicksPerSecond;
}

}  // namespace armillary::sim
