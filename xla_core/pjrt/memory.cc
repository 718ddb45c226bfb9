// Memory spaces.
#include "xla_core/pjrt/client.h"

namespace armillary::pjrt {
namespace {

void id(PJRT_Memory_Id_Args& args) { args.id = args.memory->id; }

void kind(PJRT_Memory_Kind_Args& args) {
  args.kind = kMemoryKinds[args.memory->kind].data();
  args.kind_size = kMemoryKinds[args.memory->kind].size();
}

void kind_id(PJRT_Memory_Kind_Id_Args& args) { args.kind_id = args.memory->kind; }

void debug_string(PJRT_Memory_DebugString_Args& args) {
  args.debug_string = args.memory->debug_string.c_str();
  args.debug_string_size = args.memory->debug_string.size();
}

void to_string(PJRT_Memory_ToString_Args& args) {
  args.to_string = args.memory->to_string.c_str();
  args.to_string_size = args.memory->to_string.size();
}

void devices(PJRT_Memory_AddressableByDevices_Args& args) {
  args.devices = &args.memory->device;
  args.num_devices = 1;
}

}  // namespace

void add_memories(PJRT_Api& api) {
  api.PJRT_Memory_Id = guard<id>;
  api.PJRT_Memory_Kind = guard<kind>;
  api.PJRT_Memory_Kind_Id = guard<kind_id>;
  api.PJRT_Memory_DebugString = guard<debug_string>;
  api.PJRT_Memory_ToString = guard<to_string>;
  api.PJRT_Memory_AddressableByDevices = guard<devices>;
}

}  // namespace armillary::pjrt
