// The machine as PJRT sees it: devices, each with three kinds of memory that are all the same to us.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "xla_core/client/simulate.h"
#include "xla_core/pjrt/entry.h"
#include "xla_core/pjrt/queue.h"

namespace armillary::pjrt {

// This machine's processor, and a pod of simulated TPUs.
inline constexpr std::string_view kPlatformName = "armillary", kTpuPlatformName = "armillary_tpu";
inline constexpr std::array<std::string_view, 3> kMemoryKinds = {"device", "pinned_host", "unpinned_host"};
std::string_view platform_version();
constexpr int kMostDevices = 1024;  // assumed: more threads than that help nobody

}  // namespace armillary::pjrt

struct PJRT_DeviceDescription {
  int id = 0;
  std::string kind = "cpu", debug_string, to_string;
  std::vector<int64_t> coords;  // of a simulated TPU
  std::vector<PJRT_NamedValue> attributes;
};

struct PJRT_Memory {
  int id = 0;
  int kind = 0;  // into kMemoryKinds
  std::string debug_string, to_string;
  PJRT_Device* device = nullptr;
  PJRT_Client* client = nullptr;
};

struct PJRT_Device {
  PJRT_Client* client = nullptr;
  PJRT_DeviceDescription* description = nullptr;
  std::vector<PJRT_Memory*> memories;
  armillary::pjrt::Queue queue;
};

struct PJRT_TopologyDescription {
  explicit PJRT_TopologyDescription(int devices);
  explicit PJRT_TopologyDescription(armillary::sim::Pod simulated);
  std::string_view platform_name() const;
  std::string version;
  std::shared_ptr<const armillary::sim::Pod> pod;  // nullptr: this machine's processor
  std::vector<std::unique_ptr<PJRT_DeviceDescription>> owned;
  std::vector<PJRT_DeviceDescription*> descriptions;
};

struct PJRT_Client {
  explicit PJRT_Client(PJRT_TopologyDescription machine);
  PJRT_Device* device(int id) const;  // throws a user error when there is none
  void drain();                       // waits for all devices

  PJRT_TopologyDescription topology;
  std::vector<std::unique_ptr<PJRT_Memory>> owned_memories;
  std::vector<PJRT_Memory*> memories;
  std::vector<std::unique_ptr<PJRT_Device>> owned_devices;
  std::vector<PJRT_Device*> devices;
};
