#include "xla_core/pjrt/options.h"

#include "xla_core/base/error.h"
#include "xla_core/io/hlo.pb.h"

namespace armillary::pjrt {
namespace {

std::string text_of(const proto::OptionOverrideProto& value) {
  switch (value.value_case()) {
    case proto::OptionOverrideProto::kStringField:
      return value.string_field();
    case proto::OptionOverrideProto::kBoolField:
      return value.bool_field() ? "true" : "false";
    case proto::OptionOverrideProto::kIntField:
      return std::to_string(value.int_field());
    default:
      return std::to_string(value.double_field());
  }
}

// Anything but XLA's own switches is a mistake. Most of them mean nothing to us.
void check_override(const std::string& name, const proto::OptionOverrideProto& value) {
  if (!name.starts_with("xla_")) throw user_error("No such compile option: '{}'", name);
  static const std::string_view kTruth[] = {"true", "false", "True", "False", "1", "0"};
  const bool is_text = value.value_case() == proto::OptionOverrideProto::kStringField;
  if (name == "xla_embed_ir_in_executable" && is_text &&
      std::find(std::begin(kTruth), std::end(kTruth), value.string_field()) == std::end(kTruth))
    throw user_error("While setting option {}, '{}' is not a valid bool value.", name, value.string_field());
}

void read_devices(const proto::DeviceAssignmentProto& p, Options& options) {
  if (p.replica_count() != options.replicas || p.computation_count() != options.partitions ||
      p.computation_devices_size() != options.partitions)
    throw user_error("the device assignment is for {} replicas of {} partitions, the program has {} of {}",
                     p.replica_count(), p.computation_count(), options.replicas, options.partitions);
  for (int64_t r = 0; r < options.replicas; ++r)
    for (const auto& partition : p.computation_devices()) {
      if (partition.replica_device_ids_size() != options.replicas)
        throw user_error("the device assignment names {} replicas of {}", partition.replica_device_ids_size(),
                         options.replicas);
      options.devices.push_back(partition.replica_device_ids(static_cast<int>(r)));
    }
}

}  // namespace

Options read_options(std::string_view bytes) {
  proto::CompileOptionsProto p;
  if (bytes.size() > INT32_MAX || !p.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw user_error("{} bytes that are no CompileOptionsProto", bytes.size());
  Options options;
  XlaFlags flags = xla_flags();
  for (const auto& [name, value] : p.env_option_overrides()) {
    check_override(name, value);
    if (override_xla_flag(flags, name, text_of(value))) options.xla_flags = std::make_shared<XlaFlags>(flags);
  }
  const auto& build = p.executable_build_options();
  options.replicas = std::max<int64_t>(1, build.num_replicas());
  options.partitions = std::max<int64_t>(1, build.num_partitions());
  if (options.replicas > 1 << 20 || options.partitions > 1 << 20)
    throw user_error("{} replicas of {} partitions", options.replicas, options.partitions);
  options.spmd = build.use_spmd_partitioning();
  options.tupled_parameters = p.parameter_is_tupled_arguments();
  for (bool b : build.allow_spmd_sharding_propagation_to_parameters())
    options.choose_parameter_shardings.push_back(b);
  for (bool b : build.allow_spmd_sharding_propagation_to_output())
    options.choose_result_shardings.push_back(b);
  if (build.has_device_assignment()) read_devices(build.device_assignment(), options);
  return options;
}

std::string device_assignment_bytes(const Options& options) {
  proto::DeviceAssignmentProto p;
  p.set_replica_count(static_cast<int32_t>(options.replicas));
  p.set_computation_count(static_cast<int32_t>(options.partitions));
  for (int64_t k = 0; k < options.partitions; ++k) {
    auto* partition = p.add_computation_devices();
    for (int64_t r = 0; r < options.replicas; ++r) {
      const int64_t place = r * options.partitions + k;
      partition->add_replica_device_ids(options.devices.empty() ? place : options.devices[place]);
    }
  }
  return p.SerializeAsString();
}

}  // namespace armillary::pjrt
