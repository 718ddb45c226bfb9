// How long a command takes on a core that is otherwise idle, and what it keeps busy meanwhile.
#pragma once

#include "tpu_sim/isa.h"
#include "tpu_sim/spec/device.h"

namespace armillary::sim {

struct Price {
  Tick duration = 0;
  Tick hbm = 0;  // of it, so long the memory is busy
  Tick mxu = 0, vpu = 0, xlu = 0;
  double hbm_bytes = 0;    // moved
  std::string_view bound;  // what it waits for most of the time
};

Price price(const FusedLoop& loop, const Device& device);
Price price(const Copy& copy, const Device& device);  // as if synchronous
Price price(const HostTransfer& transfer, const Device& device);
Price price(const IndexedAccess& access, const Device& device);
Price price(const Serial& serial, const Device& device);

}  // namespace armillary::sim
