// Programs in and out: from what the caller sends to a module, and from a module to what the caller reads.
#include <algorithm>

#include "xla_core/client/host_hooks.h"
#include "xla_core/io/device_proto.h"
#include "xla_core/io/hlo.pb.h"
#include "xla_core/io/proto.h"
#include "xla_core/io/shape_proto.h"
#include "xla_core/io/vhlo/byte_reader.h"
#include "xla_core/io/vhlo/vhlo.h"
#include "xla_core/pjrt/executable.h"

namespace armillary::pjrt {
namespace {

bool is_bytecode(std::string_view code) { return code.starts_with("ML\xefR"); }

// Bytes by our own reader, which damage cannot harm; text through the converter that the host brings along.
std::unique_ptr<Module> read_stablehlo(std::string_view code) {
  if (is_bytecode(code)) return from_stablehlo_artifact(std::as_bytes(std::span(code)));
  if (!vhlo::is_utf8(code)) throw user_error("a program that is neither the bytecode of MLIR nor text");
  if (!host_hooks().hlo_of_stablehlo)
    throw unsupported_error("StableHLO text can be read only where Python is");
  return from_proto(host_hooks().hlo_of_stablehlo(code));
}

std::unique_ptr<Module> read_with_config(std::string_view code) {
  proto::HloModuleProtoWithConfig p;
  if (code.size() > INT32_MAX || !p.ParseFromArray(code.data(), static_cast<int>(code.size())))
    throw user_error("{} bytes that are no HloModuleProtoWithConfig", code.size());
  return from_proto(p.hlo_module());
}

Shape with_layouts(Shape shape) {
  for (Shape& element : shape.tuple) element = with_layouts(std::move(element));
  if (shape.is_array() && !shape.layout) shape.layout = Layout::row_major(shape.rank());
  return shape;
}

void add_sharding(const std::string& text, proto::OpSharding* p) {
  if (text.empty())
    p->set_type(proto::OpSharding::REPLICATED);
  else
    sharding_from_text(text, p);
}

// A sharding of a tuple, from one for each element or one for all.
std::string shardings_bytes(const Signature& signature, bool result_is_tuple) {
  proto::HloModuleProto p;
  for (const std::string& text : signature.parameter_shardings)
    add_sharding(text, p.add_spmd_parameters_shardings());
  proto::OpSharding* result = p.mutable_spmd_output_sharding();
  if (!signature.result_sharding.empty() || !result_is_tuple) {
    add_sharding(signature.result_sharding, result);
  } else {
    result->set_type(proto::OpSharding::TUPLE);
    // XLA wants one for an empty tuple too.
    for (size_t r = 0; r < std::max<size_t>(1, signature.results.size()); ++r)
      result->add_tuple_shardings()->set_type(proto::OpSharding::REPLICATED);
  }
  return p.SerializeAsString();
}

}  // namespace

std::unique_ptr<Module> read_program(std::string_view format, std::string_view code) {
  if (format == "mlir") return read_stablehlo(code);
  if (format == "hlo") return from_proto(code);
  if (format == "hlo_with_config") return read_with_config(code);
  throw unsupported_error("programs in the format '{}'", format);
}

std::vector<int> result_memory_kinds(const Source& source, size_t results) {
  std::vector<int> kinds(results, 0);
  // Few programs name a memory, and those that do not must not pay for the question.
  if (source.format != "mlir" || source.code.find("pinned_host") == std::string::npos ||
      !host_hooks().result_memory_kinds)
    return kinds;
  const std::vector<std::string> names = host_hooks().result_memory_kinds(source.code);
  for (size_t r = 0; r < std::min(results, names.size()); ++r) {
    const auto found = std::find(kMemoryKinds.begin(), kMemoryKinds.end(), names[r]);
    if (found == kMemoryKinds.end()) throw user_error("result {}: there is no memory '{}'", r, names[r]);
    kinds[r] = static_cast<int>(found - kMemoryKinds.begin());
  }
  return kinds;
}

std::string write_optimized_program(const Built& built) {
  const Module& module = built.executable->module();
  proto::HloModuleProtoWithConfig p;
  p.set_hlo_module(to_proto(module));
  ProgramShape shape = module.entry_layout.value_or(module.entry()->program_shape());
  for (Shape& parameter : shape.parameters) parameter = with_layouts(std::move(parameter));
  shape.result = with_layouts(std::move(shape.result));
  // Fields of one message may come in several pieces.
  if (built.options.num_devices() > 1)
    *p.mutable_hlo_module() += shardings_bytes(built.signature, shape.result.is_tuple());
  auto* layout = p.mutable_config()->mutable_entry_computation_layout();
  program_shape_to_proto(shape, layout);
  for (const Instruction* parameter : module.entry()->parameters())
    layout->add_parameter_names(parameter->name());
  p.mutable_config()->set_replica_count(built.options.replicas);
  p.mutable_config()->set_num_partitions(built.options.partitions);
  return p.SerializeAsString();
}

namespace {

constexpr std::string_view kMagic = "armillary executable 1\n";

void put(std::string& out, std::string_view part) {
  out += std::to_string(part.size()) + "\n";
  out += part;
}

std::string take(std::string_view& in) {
  const size_t end = in.find('\n');
  size_t size = 0;
  for (size_t i = 0; i < end && i < in.size(); ++i) {
    if (in[i] < '0' || in[i] > '9' || size > in.size()) throw user_error("a damaged executable");
    size = size * 10 + static_cast<size_t>(in[i] - '0');
  }
  if (end == std::string_view::npos || size > in.size() - end - 1) throw user_error("a damaged executable");
  std::string part(in.substr(end + 1, size));
  in.remove_prefix(end + 1 + size);
  return part;
}

}  // namespace

std::string join_parts(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) put(out, part);
  return out;
}

std::vector<std::string> split_parts(std::string_view bytes) {
  std::vector<std::string> parts;
  while (!bytes.empty()) parts.push_back(take(bytes));
  return parts;
}

std::string to_bytes(const Source& source) {
  std::string out(kMagic);
  put(out, source.format);
  put(out, source.code);
  put(out, source.options);
  return out + join_parts(source.answers);
}

Source source_from_bytes(std::string_view bytes) {
  if (!bytes.starts_with(kMagic))
    throw user_error("these are not the bytes of an executable of this version");
  bytes.remove_prefix(kMagic.size());
  Source source;
  source.format = take(bytes);
  source.code = take(bytes);
  source.options = take(bytes);
  source.answers = split_parts(bytes);
  return source;
}

}  // namespace armillary::pjrt
