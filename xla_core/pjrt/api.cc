// The table of functions: the one symbol that a PJRT plugin shows.
#include "xla_core/pjrt/extensions.h"

namespace armillary::pjrt {
namespace {

PJRT_Error* not_there(const char* name) {
  return to_error(std::make_shared<Failure>(
      Failure{PJRT_Error_Code_UNIMPLEMENTED, std::string(name) + " is not implemented by armillary"}));
}

void initialize(PJRT_Plugin_Initialize_Args&) { use_ffi_handlers(); }

// The programs that JAX sends are written in this version of StableHLO, whatever its own is.
constexpr int64_t kStablehloVersion[] = {1, 17, 0};
constexpr int64_t kStablehloMinimum[] = {0, 9, 0};

PJRT_NamedValue list_attribute(std::string_view name, const int64_t (&values)[3]) {
  PJRT_NamedValue v = {};
  v.struct_size = PJRT_NamedValue_STRUCT_SIZE;
  v.name = name.data();
  v.name_size = name.size();
  v.type = PJRT_NamedValue_kInt64List;
  v.int64_array_value = values;
  v.value_size = 3;
  return v;
}

void attributes(PJRT_Plugin_Attributes_Args& args) {
  static const PJRT_NamedValue values[] = {list_attribute("stablehlo_current_version", kStablehloVersion),
                                           list_attribute("stablehlo_minimum_version", kStablehloMinimum)};
  args.attributes = values;
  args.num_attributes = std::size(values);
}

PJRT_Api make_table() {
  PJRT_Api api = {};
  api.struct_size = PJRT_Api_STRUCT_SIZE;
  api.extension_start =
      layouts_extension(profiler_extension(custom_partitioner_extension(ffi_extension(nullptr))));
  api.pjrt_api_version.struct_size = PJRT_Api_Version_STRUCT_SIZE;
  api.pjrt_api_version.major_version = PJRT_API_MAJOR;
  api.pjrt_api_version.minor_version = PJRT_API_MINOR;
// Every function of the header that returns an error first says that it is not there.
#define ARM_FUNCTION(name) api.name = [](name##_Args*) { return not_there(#name); };
#include "xla_core/pjrt/functions.inc"
#undef ARM_FUNCTION
  api.PJRT_Plugin_Initialize = guard<initialize>;
  api.PJRT_Plugin_Attributes = guard<attributes>;
  for (auto* add : {add_errors, add_events, add_client, add_devices, add_memories, add_topology, add_buffers,
                    add_transfers, add_executables, add_programs, add_execute})
    add(api);
  return api;
}

}  // namespace
}  // namespace armillary::pjrt

extern "C" __attribute__((visibility("default"))) const PJRT_Api* GetPjrtApi() {
  static const PJRT_Api table = armillary::pjrt::make_table();
  return &table;
}
