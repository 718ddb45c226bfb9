// How long a collective takes on a torus: link by link, event by event, and as a closed form.
//
// One axis at a time a collective is a set of walks: messages that go from chip to chip in one direction.
// With several axes the buffer is split into as many parts; part p begins on axis p and goes round, so that
// every axis is busy in every phase. A phase begins when the slowest part of the one before has ended.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tpu_sim/ici/kind.h"
#include "tpu_sim/ici/links.h"

namespace armillary::sim {

struct Collective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  // Of one chip: what an all-gather gives it, what all the others start with.
  int64_t bytes = 0;
  std::vector<int> axes;  // of the torus; the groups are the chips that differ on these only
  int shift =
      1;  // collective-permute: every chip sends to the one so much further along axes[0], round the end
};

struct CollectiveResult {
  Tick finish = 0;
  int64_t events = 0;
  std::vector<int64_t>
      received;            // bytes that came to each chip to stay or be added, not those that it passes on
  std::vector<Tick> busy;  // of each link
};

// Several at once contend for the links, first come, first served; `busy` is of all of them together.
std::vector<CollectiveResult> simulate(std::span<const Collective> collectives, const Topology& torus,
                                       LinkSpeed speed);

// All three throw a user error if an axis does not exist or comes twice, or bytes are negative.
CollectiveResult simulate(const Collective& collective, const Topology& torus, LinkSpeed speed);
Tick closed_form(const Collective& collective, const Topology& torus, LinkSpeed speed);

}  // namespace armillary::sim
