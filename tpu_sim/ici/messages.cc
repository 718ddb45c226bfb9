#include "tpu_sim/ici/messages.h"

#include <queue>

namespace armillary::sim {
namespace {

struct Event {
  Tick at;
  int64_t order;
  size_t message;
  int chip;

  bool operator<(const Event& o) const { return at != o.at ? at > o.at : order > o.order; }
};

// The next hop towards a chip: the first axis on which the two differ.
Push next_hop(int at, const Message& message, const Topology& torus) {
  for (int axis = 0; axis < static_cast<int>(torus.axes.size()); ++axis) {
    const auto [extent, wraps] = torus.axes[axis];
    const int forward = torus.coordinate(message.to, axis) - torus.coordinate(at, axis);
    if (forward == 0) continue;
    const int round = (forward + extent) % extent;
    const bool onward = wraps ? round <= extent - round : forward > 0;
    return {at, axis, onward ? 1 : -1, message.bytes};
  }
  return {at, -1, 0, 0};
}

}  // namespace

Tick simulate_messages(std::span<const Message> messages, const Topology& torus, LinkSpeed speed) {
  Links links(torus, speed);
  std::priority_queue<Event> events;
  int64_t order = 0;
  for (size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].bytes > 0) events.push({0, order++, i, messages[i].from});
  }
  Tick finish = 0;
  while (!events.empty()) {
    const Event event = events.top();
    events.pop();
    const Push hop = next_hop(event.chip, messages[event.message], torus);
    finish = std::max(finish, event.at);
    if (hop.axis < 0) continue;
    events.push({links.issue(hop, event.at), order++, event.message,
                 torus.neighbour(event.chip, hop.axis, hop.direction)});
  }
  return finish;
}

}  // namespace armillary::sim
