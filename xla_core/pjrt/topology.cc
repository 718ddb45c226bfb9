// The devices there could be, without a client.
#include <fmt/ranges.h>

#include "xla_core/base/flags.h"
#include "xla_core/pjrt/client.h"
#include "xla_core/pjrt/serialized.h"

using namespace armillary;
using namespace armillary::pjrt;

namespace {

PJRT_NamedValue attribute(std::string_view name, PJRT_NamedValue_Type type, size_t size) {
  PJRT_NamedValue v = {};
  v.struct_size = PJRT_NamedValue_STRUCT_SIZE;
  v.name = name.data();
  v.name_size = name.size();
  v.type = type;
  v.value_size = size;
  return v;
}

PJRT_NamedValue attribute(std::string_view name, int64_t value) {
  PJRT_NamedValue v = attribute(name, PJRT_NamedValue_kInt64, 1);
  v.int64_value = value;
  return v;
}

// Under the names that JAX's meshes look for.
void describe(PJRT_DeviceDescription& d, const sim::Pod& pod) {
  d.kind = "TPU " + pod.chip.name() + " (simulated)";
  const int chip = d.id / pod.devices_per_chip % pod.torus.chips();
  for (size_t axis = 0; axis < 3; ++axis)
    d.coords.push_back(axis < pod.torus.axes.size() ? pod.torus.coordinate(chip, static_cast<int>(axis)) : 0);
  PJRT_NamedValue coords = attribute("coords", PJRT_NamedValue_kInt64List, d.coords.size());
  coords.int64_array_value = d.coords.data();
  const int core = d.id % pod.devices_per_chip, slice = d.id / pod.devices_per_chip / pod.torus.chips();
  d.attributes = {coords, attribute("core_on_chip", core), attribute("slice_index", slice)};
  d.debug_string = fmt::format("ARMILLARY_TPU_{}", d.id);
  d.to_string = fmt::format("SimulatedTpuDevice(id={}, {}, coords=({}), core_on_chip={})", d.id,
                            pod.chip.name(), fmt::join(d.coords, ","), core);
}

}  // namespace

PJRT_TopologyDescription::PJRT_TopologyDescription(sim::Pod simulated)
    : PJRT_TopologyDescription(simulated.devices()) {
  pod = std::make_shared<const sim::Pod>(std::move(simulated));
  version += ", simulated " + sim::to_string(*pod);
  for (PJRT_DeviceDescription* d : descriptions) describe(*d, *pod);
}

std::string_view PJRT_TopologyDescription::platform_name() const {
  return pod ? kTpuPlatformName : kPlatformName;
}

PJRT_TopologyDescription::PJRT_TopologyDescription(int devices) : version(platform_version()) {
  if (devices < 1 || devices > kMostDevices)
    throw user_error("{} devices: there can be 1 to {}", devices, kMostDevices);
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
  args.platform_name = args.topology->platform_name().data();
  args.platform_name_size = args.topology->platform_name().size();
}

void version(PJRT_TopologyDescription_PlatformVersion_Args& args) {
  args.platform_version = args.topology->version.data();
  args.platform_version_size = args.topology->version.size();
}

void descriptions(PJRT_TopologyDescription_GetDeviceDescriptions_Args& args) {
  args.descriptions = args.topology->descriptions.data();
  args.num_descriptions = args.topology->descriptions.size();
}

void serialize(PJRT_TopologyDescription_Serialize_Args& args) {
  const std::string machine = args.topology->pod ? sim::to_string(*args.topology->pod)
                                                 : std::to_string(args.topology->descriptions.size());
  args.serialized_topology =
      PJRT_SerializedTopology::make(fmt::format("{}{}", kMagic, machine), args.serialized_bytes,
                                    args.serialized_bytes_size, args.serialized_topology_deleter);
}

void deserialize(PJRT_TopologyDescription_Deserialize_Args& args) {
  const std::string bytes(text(args.serialized_topology, args.serialized_topology_size));
  if (bytes.starts_with(kMagic) && bytes.find(':', kMagic.size()) != std::string::npos) {
    args.topology = new PJRT_TopologyDescription(sim::parse_pod(bytes.substr(kMagic.size())));
    return;
  }
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
