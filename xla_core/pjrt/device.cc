// Devices and their descriptions.
#include "xla_core/client/simulate.h"
#include "xla_core/pjrt/client.h"
#include "xla_core/pjrt/storage.h"

namespace armillary::pjrt {
namespace {

void id(PJRT_DeviceDescription_Id_Args& args) { args.id = args.device_description->id; }
void process_index(PJRT_DeviceDescription_ProcessIndex_Args& args) { args.process_index = 0; }

void attributes(PJRT_DeviceDescription_Attributes_Args& args) {
  args.attributes = args.device_description->attributes.data();
  args.num_attributes = args.device_description->attributes.size();
}

void kind(PJRT_DeviceDescription_Kind_Args& args) {
  args.device_kind = args.device_description->kind.c_str();
  args.device_kind_size = args.device_description->kind.size();
}

void debug_string(PJRT_DeviceDescription_DebugString_Args& args) {
  args.debug_string = args.device_description->debug_string.c_str();
  args.debug_string_size = args.device_description->debug_string.size();
}

void to_string(PJRT_DeviceDescription_ToString_Args& args) {
  args.to_string = args.device_description->to_string.c_str();
  args.to_string_size = args.device_description->to_string.size();
}

void description(PJRT_Device_GetDescription_Args& args) {
  args.device_description = args.device->description;
}

void is_addressable(PJRT_Device_IsAddressable_Args& args) { args.is_addressable = true; }
void hardware_id(PJRT_Device_LocalHardwareId_Args& args) {
  args.local_hardware_id = args.device->description->id;
}

void memories(PJRT_Device_AddressableMemories_Args& args) {
  args.memories = args.device->memories.data();
  args.num_memories = args.device->memories.size();
}

void default_memory(PJRT_Device_DefaultMemory_Args& args) { args.memory = args.device->memories[0]; }

// All devices share the machine's memory, and so its statistics; simulated ones have a limit of their own.
void memory_stats(PJRT_Device_MemoryStats_Args& args) {
  const StorageStatistics s = storage_statistics();
  args.bytes_in_use = s.bytes;
  args.peak_bytes_in_use = s.peak_bytes;
  args.num_allocs = s.arrays;
  args.largest_alloc_size = s.largest_bytes;
  args.peak_bytes_in_use_is_set = args.num_allocs_is_set = args.largest_alloc_size_is_set = true;
  const auto& pod = args.device->client->topology.pod;
  args.bytes_limit_is_set = pod != nullptr;
  if (pod) args.bytes_limit = static_cast<int64_t>(hbm_capacity(*pod));
  args.bytes_reserved_is_set = args.peak_bytes_reserved_is_set = false;
  args.bytes_reservable_limit_is_set = args.largest_free_block_bytes_is_set = false;
  args.pool_bytes_is_set = args.peak_pool_bytes_is_set = false;
}

}  // namespace

void add_devices(PJRT_Api& api) {
  api.PJRT_DeviceDescription_Id = guard<id>;
  api.PJRT_DeviceDescription_ProcessIndex = guard<process_index>;
  api.PJRT_DeviceDescription_Attributes = guard<attributes>;
  api.PJRT_DeviceDescription_Kind = guard<kind>;
  api.PJRT_DeviceDescription_DebugString = guard<debug_string>;
  api.PJRT_DeviceDescription_ToString = guard<to_string>;
  api.PJRT_Device_GetDescription = guard<description>;
  api.PJRT_Device_IsAddressable = guard<is_addressable>;
  api.PJRT_Device_LocalHardwareId = guard<hardware_id>;
  api.PJRT_Device_AddressableMemories = guard<memories>;
  api.PJRT_Device_DefaultMemory = guard<default_memory>;
  api.PJRT_Device_MemoryStats = guard<memory_stats>;
}

}  // namespace armillary::pjrt
