// A client, and what it is asked about itself.
#include "xla_core/pjrt/client.h"

#include "xla_core/base/flags.h"
#include "xla_core/client/host_hooks.h"
#include "xla_core/shape/shape.h"

using namespace armillary;
using namespace armillary::pjrt;

PJRT_Client::PJRT_Client(PJRT_TopologyDescription machine) : topology(std::move(machine)) {
  for (int id = 0; id < static_cast<int>(topology.descriptions.size()); ++id) {
    owned_devices.push_back(std::make_unique<PJRT_Device>());
    PJRT_Device* device = owned_devices.back().get();
    devices.push_back(device);
    device->client = this;
    device->description = topology.descriptions[id];
    for (int kind = 0; kind < static_cast<int>(kMemoryKinds.size()); ++kind) {
      const int memory_id = id * static_cast<int>(kMemoryKinds.size()) + kind;
      const std::string name = fmt::format("{}(id={}, device={})", kMemoryKinds[kind], memory_id, id);
      owned_memories.push_back(
          std::make_unique<PJRT_Memory>(PJRT_Memory{memory_id, kind, name, name, device, this}));
      memories.push_back(owned_memories.back().get());
      device->memories.push_back(memories.back());
    }
  }
}

PJRT_Device* PJRT_Client::device(int id) const {
  if (id < 0 || id >= static_cast<int>(devices.size()))
    throw user_error("there is no device {}: there are {}", id, devices.size());
  return devices[id];
}

void PJRT_Client::drain() {
  for (PJRT_Device* device : devices) device->queue.drain();
}

namespace armillary::pjrt {

std::string_view platform_version() { return "armillary 0.1.0"; }

namespace {

// JAX asks for the platform by the name under which it was registered.
bool wants_tpus(const PJRT_Client_Create_Args& args) {
  for (size_t i = 0; i < args.num_options; ++i) {
    const PJRT_NamedValue& option = args.create_options[i];
    if (text(option.name, option.name_size) == "platform" && option.type == PJRT_NamedValue_kString)
      return text(option.string_value, option.value_size) == kTpuPlatformName;
  }
  return false;
}

int device_count(const PJRT_Client_Create_Args& args) {
  int64_t count = flags().devices > 0 ? flags().devices : xla_flags().host_device_count;
  for (size_t i = 0; i < args.num_options; ++i) {
    const PJRT_NamedValue& option = args.create_options[i];
    const std::string_view name = text(option.name, option.name_size);
    if (name == "devices" && option.type == PJRT_NamedValue_kInt64 && option.int64_value > 0)
      count = option.int64_value;
  }
  if (count < 1 || count > kMostDevices)
    throw user_error("{} devices: there can be 1 to {}", count, kMostDevices);
  return static_cast<int>(count);
}

void create(PJRT_Client_Create_Args& args) {
  auto client = std::make_unique<PJRT_Client>(
      wants_tpus(args) ? PJRT_TopologyDescription(sim::parse_pod(flags().tpu_topology))
                       : PJRT_TopologyDescription(device_count(args)));
  if (host_hooks().client_created) host_hooks().client_created();
  args.client = client.release();
}

void destroy(PJRT_Client_Destroy_Args& args) {
  const auto drain = [&] { args.client->drain(); };
  if (host_hooks().without_host_lock)
    host_hooks().without_host_lock(drain);
  else
    drain();
  delete args.client;
}

void platform_name(PJRT_Client_PlatformName_Args& args) {
  args.platform_name = args.client->topology.platform_name().data();
  args.platform_name_size = args.client->topology.platform_name().size();
}

void process_index(PJRT_Client_ProcessIndex_Args& args) { args.process_index = 0; }

void version(PJRT_Client_PlatformVersion_Args& args) {
  args.platform_version = args.client->topology.version.data();
  args.platform_version_size = args.client->topology.version.size();
}

void topology(PJRT_Client_TopologyDescription_Args& args) { args.topology = &args.client->topology; }

void all_devices(PJRT_Client_Devices_Args& args) {
  args.devices = args.client->devices.data();
  args.num_devices = args.client->devices.size();
}

void addressable_devices(PJRT_Client_AddressableDevices_Args& args) {
  args.addressable_devices = args.client->devices.data();
  args.num_addressable_devices = args.client->devices.size();
}

void lookup_device(PJRT_Client_LookupDevice_Args& args) { args.device = args.client->device(args.id); }

void lookup_addressable(PJRT_Client_LookupAddressableDevice_Args& args) {
  args.addressable_device = args.client->device(args.local_hardware_id);
}

void addressable_memories(PJRT_Client_AddressableMemories_Args& args) {
  args.addressable_memories = args.client->memories.data();
  args.num_addressable_memories = args.client->memories.size();
}

void default_assignment(PJRT_Client_DefaultDeviceAssignment_Args& args) {
  const int64_t count = int64_t{args.num_replicas} * args.num_partitions;
  const auto available = static_cast<int64_t>(args.client->devices.size());
  if (args.num_replicas < 1 || args.num_partitions < 1 || count > available ||
      static_cast<size_t>(count) > args.default_assignment_size)
    throw user_error("{} replicas of {} partitions do not fit on {} devices", args.num_replicas,
                     args.num_partitions, available);
  for (int i = 0; i < count; ++i) args.default_assignment[i] = i;
}

// One process is all there is.
void update_process_info(PJRT_Client_UpdateGlobalProcessInfo_Args&) {}
// Host memory needs no mapping for a device that works in it.
void dma_map(PJRT_Client_DmaMap_Args&) {}
void dma_unmap(PJRT_Client_DmaUnmap_Args&) {}

}  // namespace

void add_client(PJRT_Api& api) {
  api.PJRT_Client_Create = guard<create>;
  api.PJRT_Client_Destroy = guard<destroy>;
  api.PJRT_Client_PlatformName = guard<platform_name>;
  api.PJRT_Client_ProcessIndex = guard<process_index>;
  api.PJRT_Client_PlatformVersion = guard<version>;
  api.PJRT_Client_TopologyDescription = guard<topology>;
  api.PJRT_Client_Devices = guard<all_devices>;
  api.PJRT_Client_AddressableDevices = guard<addressable_devices>;
  api.PJRT_Client_LookupDevice = guard<lookup_device>;
  api.PJRT_Client_LookupAddressableDevice = guard<lookup_addressable>;
  api.PJRT_Client_AddressableMemories = guard<addressable_memories>;
  api.PJRT_Client_DefaultDeviceAssignment = guard<default_assignment>;
  api.PJRT_Client_UpdateGlobalProcessInfo = guard<update_process_info>;
  api.PJRT_Client_DmaMap = guard<dma_map>;
  api.PJRT_Client_DmaUnmap = guard<dma_unmap>;
}

}  // namespace armillary::pjrt
