// The devices there could be, without a client.
#include "xla_core/base/flags.h"
#include "xla_core/pjrt/client.h"
#include "xla_core/pjrt/serialized.h"

PJRT_TopologyDescription::PJRT_TopologyDescription(int devices) {
  for (int id = 0; id < devices; ++id) {
    auto d = std::make_unique<PJRT_DeviceDescription>();
    d->id = id;
    d->debug_string = fmt::format("ARMILLARY_{}", id);
    d->to_string = fmt::format("ArmillaryDevice(id={})", id);
    descriptions.push_back(d.get());
    owned.push_back(std::move(d));
  }
}

struct PJRT_SerializedTopology : armillary::pjrt::Serialized<PJRT_SerializedTopology> {};

namespace armillary::pjrt {
namespace {

constexpr std::string_view kMagic = "armillary topology 1: ";

void create(PJRT_TopologyDescription_Create_Args& args) {
  args.topology =
      new PJRT_TopologyDescription(static_cast<int>(std::max<int64_t>(1, xla_flags().host_device_count)));
}

void destroy(PJRT_TopologyDescription_Destroy_Args& args) { delete args.topology; }

void platform_name(PJRT_TopologyDescription_PlatformName_Args& args) {
  args.platform_name = kPlatformName.data();
  args.platform_name_size = kPlatformName.size();
}

void version(PJRT_TopologyDescription_PlatformVersion_Args& args) {
  args.platform_version = platform_version().data();
  args.platform_version_size = platform_version().size();
}

void descriptions(PJRT_TopologyDescription_GetDeviceDescriptions_Args& args) {
  args.descriptions = args.topology->descriptions.data();
  args.num_descriptions = args.topology->descriptions.size();
}

void serialize(PJRT_TopologyDescription_Serialize_Args& args) {
  args.serialized_topology = PJRT_SerializedTopology::make(
      fmt::format("{}{}", kMagic, args.topology->descriptions.size()), args.serialized_bytes,
      args.serialized_bytes_size, args.serialized_topology_deleter);
}

void deserialize(PJRT_TopologyDescription_Deserialize_Args& args) {
  const std::string bytes(text(args.serialized_topology, args.serialized_topology_size));
  int devices = 0;
  if (!bytes.starts_with(kMagic) || std::sscanf(bytes.c_str() + kMagic.size(), "%d", &devices) != 1 ||
      devices < 1)
    throw user_error("these are not the bytes of a topology");
  args.topology = new PJRT_TopologyDescription(devices);
}

void attributes(PJRT_TopologyDescription_Attributes_Args& args) {
  args.attributes = nullptr;
  args.num_attributes = 0;
}

}  // namespace

void add_topology(PJRT_Api& api) {
  api.PJRT_TopologyDescription_Create = guard<create>;
  api.PJRT_TopologyDescription_Destroy = guard<destroy>;
  api.PJRT_TopologyDescription_PlatformName = guard<platform_name>;
  api.PJRT_TopologyDescription_PlatformVersion = guard<version>;
  api.PJRT_TopologyDescription_GetDeviceDescriptions = guard<descriptions>;
  api.PJRT_TopologyDescription_Serialize = guard<serialize>;
  api.PJRT_TopologyDescription_Deserialize = guard<deserialize>;
  api.PJRT_TopologyDescription_Attributes = guard<attributes>;
}

}  // namespace armillary::pjrt
