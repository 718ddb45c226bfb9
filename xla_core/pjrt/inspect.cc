// What an executable is asked about itself.
#include <cstring>

#include "xla_core/pjrt/buffer.h"
#include "xla_core/pjrt/executable.h"
#include "xla_core/pjrt/serialized.h"

struct PJRT_SerializedExecutable : armillary::pjrt::Serialized<PJRT_SerializedExecutable> {};
struct PJRT_SerializedCompileOptions : armillary::pjrt::Serialized<PJRT_SerializedCompileOptions> {};
struct PJRT_DeviceAssignmentSerialized : armillary::pjrt::Serialized<PJRT_DeviceAssignmentSerialized> {};

namespace armillary::pjrt {
namespace {

void name(PJRT_Executable_Name_Args& args) {
  args.executable_name = args.executable->built->name.c_str();
  args.executable_name_size = args.executable->built->name.size();
}

void replicas(PJRT_Executable_NumReplicas_Args& args) {
  args.num_replicas = static_cast<size_t>(args.executable->built->options.replicas);
}
void partitions(PJRT_Executable_NumPartitions_Args& args) {
  args.num_partitions = static_cast<size_t>(args.executable->built->options.partitions);
}
void outputs(PJRT_Executable_NumOutputs_Args& args) {
  args.num_outputs = args.executable->built->signature.results.size();
}

void code_size(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args& args) {
  args.size_in_bytes = args.executable->built->executable->program().memory.code_bytes;
}

void fingerprint(PJRT_Executable_Fingerprint_Args& args) {
  args.executable_fingerprint = args.executable->built->fingerprint.c_str();
  args.executable_fingerprint_size = args.executable->built->fingerprint.size();
}

PJRT_NamedValue property(std::string_view name, double value) {
  PJRT_NamedValue v = {};
  v.struct_size = PJRT_NamedValue_STRUCT_SIZE;
  v.name = name.data();
  v.name_size = name.size();
  v.type = PJRT_NamedValue_kFloat;
  v.float_value = static_cast<float>(value);
  v.value_size = 1;
  return v;
}

constexpr size_t kCounted = 3;

// Counted on the program as it was written: fusion hides operations, but does not save them.
void cost_analysis(PJRT_Executable_GetCostAnalysis_Args& args) {
  std::vector<PJRT_NamedValue>& properties = args.executable->properties;
  const Cost& cost = args.executable->built->cost;
  if (properties.empty())
    properties = {property("flops", cost.flops), property("transcendentals", cost.transcendentals),
                  property("bytes accessed", cost.bytes)};
  if (const auto& simulated = args.executable->built->simulated; simulated && properties.size() == kCounted) {
    properties.push_back(property("simulated seconds", simulated->seconds));
    properties.push_back(
        property("simulated exposed communication seconds", simulated->exposed_communication_seconds));
  }
  args.properties = properties.data();
  args.num_properties = properties.size();
}

// Of a simulated device's memory; results that lie where arguments lay are not counted again.
MemoryReport of_device(const Program& program) {
  const HbmReport& hbm = program.simulated->hbm;
  MemoryReport m;
  m.argument_bytes = hbm.argument_bytes, m.output_bytes = hbm.result_bytes;
  m.temporary_bytes = hbm.temporary_bytes;
  return m;
}

void memory_stats(PJRT_Executable_GetCompiledMemoryStats_Args& args) {
  const Program& program = args.executable->built->executable->program();
  const MemoryReport m = program.simulated ? of_device(program) : program.memory;
  args.generated_code_size_in_bytes = m.code_bytes;
  args.argument_size_in_bytes = m.argument_bytes;
  args.output_size_in_bytes = m.output_bytes;
  args.alias_size_in_bytes = m.alias_bytes;
  args.temp_size_in_bytes = m.temporary_bytes;
  args.host_generated_code_size_in_bytes = args.host_argument_size_in_bytes = 0;
  args.host_output_size_in_bytes = args.host_alias_size_in_bytes = args.host_temp_size_in_bytes = 0;
  args.peak_memory_in_bytes = m.argument_bytes + m.output_bytes - m.alias_bytes + m.temporary_bytes;
  args.total_size_in_bytes = args.peak_memory_in_bytes + m.code_bytes + m.constant_bytes;
}

void element_types(PJRT_Executable_OutputElementTypes_Args& args) {
  std::vector<PJRT_Buffer_Type>& types = args.executable->types;
  const std::vector<Shape>& results = args.executable->built->signature.results;
  if (types.empty())
    for (const Shape& result : results) types.push_back(type_of(result.dtype));
  args.output_types = types.data();
  args.num_output_types = types.size();
}

void dimensions(PJRT_Executable_OutputDimensions_Args& args) {
  PJRT_Executable& e = *args.executable;
  if (e.ranks.empty())
    for (const Shape& result : e.built->signature.results) {
      e.ranks.push_back(result.dims.size());
      e.dims.insert(e.dims.end(), result.dims.begin(), result.dims.end());
    }
  args.num_outputs = e.ranks.size();
  args.dims = e.dims.data();
  args.dim_sizes = e.ranks.data();
}

void memory_kinds(PJRT_Executable_OutputMemoryKinds_Args& args) {
  PJRT_Executable& e = *args.executable;
  if (e.memory_kinds.empty())
    for (int kind : e.built->signature.result_memory_kinds) {
      e.memory_kinds.push_back(kMemoryKinds[kind].data());
      e.memory_kind_sizes.push_back(kMemoryKinds[kind].size());
    }
  args.num_outputs = e.memory_kinds.size();
  args.memory_kinds = e.memory_kinds.data();
  args.memory_kind_sizes = e.memory_kind_sizes.data();
}

void optimized_program(PJRT_Executable_OptimizedProgram_Args& args) {
  static constexpr std::string_view kFormat = "hlo_with_config";
  const std::string& program = args.executable->built->optimized_program();
  args.program->format = kFormat.data();
  args.program->format_size = kFormat.size();
  if (args.program->code == nullptr) {
    args.program->code_size = program.size();
    return;
  }
  if (args.program->code_size < program.size())
    throw user_error("the program takes {} bytes, and there is room for {}", program.size(),
                     args.program->code_size);
  std::memcpy(args.program->code, program.data(), program.size());
}

void serialize(PJRT_Executable_Serialize_Args& args) {
  args.serialized_executable =
      PJRT_SerializedExecutable::make(to_bytes(args.executable->built->source), args.serialized_bytes,
                                      args.serialized_bytes_size, args.serialized_executable_deleter);
}

void compile_options(PJRT_Executable_GetCompileOptions_Args& args) {
  args.serialized_compile_options = PJRT_SerializedCompileOptions::make(
      args.executable->built->source.options, args.serialized_bytes, args.serialized_bytes_size,
      args.serialized_compile_options_deleter);
}

void device_assignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args& args) {
  args.serialized_device_assignment = PJRT_DeviceAssignmentSerialized::make(
      device_assignment_bytes(args.executable->built()->options), args.serialized_bytes,
      args.serialized_bytes_size, args.serialized_device_assignment_deleter);
}

}  // namespace

void add_programs(PJRT_Api& api) {
  api.PJRT_Executable_Name = guard<name>;
  api.PJRT_Executable_NumReplicas = guard<replicas>;
  api.PJRT_Executable_NumPartitions = guard<partitions>;
  api.PJRT_Executable_NumOutputs = guard<outputs>;
  api.PJRT_Executable_SizeOfGeneratedCodeInBytes = guard<code_size>;
  api.PJRT_Executable_Fingerprint = guard<fingerprint>;
  api.PJRT_Executable_GetCostAnalysis = guard<cost_analysis>;
  api.PJRT_Executable_GetCompiledMemoryStats = guard<memory_stats>;
  api.PJRT_Executable_OutputElementTypes = guard<element_types>;
  api.PJRT_Executable_OutputDimensions = guard<dimensions>;
  api.PJRT_Executable_OutputMemoryKinds = guard<memory_kinds>;
  api.PJRT_Executable_OptimizedProgram = guard<optimized_program>;
  api.PJRT_Executable_Serialize = guard<serialize>;
  api.PJRT_Executable_GetCompileOptions = guard<compile_options>;
  api.PJRT_LoadedExecutable_GetDeviceAssignment = guard<device_assignment>;
}

}  // namespace armillary::pjrt
