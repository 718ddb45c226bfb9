// Compiling, and handles on what was compiled.
#include "xla_core/pjrt/executable.h"

#include <algorithm>

#include "xla_core/buffers/donors.h"
#include "xla_core/pjrt/buffer.h"
#include "xla_core/pjrt/custom_partitioning.h"
#include "xla_core/pjrt/recompiles.h"
#include "xla_core/pjrt/trace.h"

using namespace armillary;
using namespace armillary::pjrt;

std::shared_ptr<const Built> PJRT_LoadedExecutable::built() const {
  std::lock_guard lock(mutex_);
  if (!built_) throw user_error("the executable has been deleted");
  return built_;
}

void PJRT_LoadedExecutable::set(std::shared_ptr<const Built> built) {
  std::lock_guard lock(mutex_);
  built_.swap(built);
}

bool PJRT_LoadedExecutable::is_deleted() const {
  std::lock_guard lock(mutex_);
  return built_ == nullptr;
}

namespace armillary::pjrt {
namespace {

// FNV-1a, 64 bits: the same in every process.
uint64_t hash(std::string_view bytes, uint64_t seed) {
  uint64_t h = 0xcbf29ce484222325 ^ seed;
  for (unsigned char c : bytes) h = (h ^ c) * 0x100000001b3;
  return h;
}

std::string fingerprint_of(const Source& source) {
  const std::string all = fmt::format("{}\n{}\n", platform_version(), source.options) + source.code;
  return fmt::format("{:016x}{:016x}", hash(all, 0), hash(all, 0x9e3779b97f4a7c15));
}

std::string sharding_of(const Instruction& i) {
  return i.has(Attr::sharding) ? i.attrs().raw(Attr::sharding) : std::string();
}

// Leaves before the given place in a parameter list or a tuple.
size_t leaf_number(const std::vector<Shape>& shapes, int64_t which, const Dims& index) {
  size_t number = 0;
  for (int64_t k = 0; k < which; ++k) number += leaves_of(shapes[k]).size();
  const Shape* shape = &shapes[which];
  for (int64_t i : index) {
    for (int64_t k = 0; k < i; ++k) number += leaves_of(shape->tuple[k]).size();
    shape = &shape->tuple[i];
  }
  return number;
}

// On one device every sharding says the same.
void forget_shardings(Module& module) {
  for (Computation* c : module.computations())
    for (Instruction* i : c->instructions()) i->attrs().erase(Attr::sharding);
}

// Whoever calls Python waits for its lock anyway, and then learns at once what was raised.
bool calls_python(const Instruction& i) {
  return i.attrs().text(Attr::custom_call_target).find("python") != std::string::npos;
}

// A hand-over to another thread costs about this much; the rates are assumed, for one core.
bool runs_quickly(const Module& module, const Cost& cost) {
  constexpr double kLimitNs = 10e3, kNsPerFlop = 0.25, kNsPerTranscendental = 4, kNsPerByte = 0.1;
  if (cost.unknown_loops > 0) return false;
  for (const Computation* c : module.reachable())
    for (const Instruction* i : c->instructions())
      if (i->is(Op::while_) || (i->is(Op::custom_call) && !calls_python(*i))) return false;
  return cost.flops * kNsPerFlop + cost.transcendentals * kNsPerTranscendental + cost.bytes * kNsPerByte <
         kLimitNs;
}

// Of a compiled program: an array that no result is as large as is not given away, though it was offered.
std::vector<bool> donated_by(const Module& module) {
  const ProgramShape shape = module.entry()->program_shape();
  std::vector<bool> out;
  for (const Shape& parameter : shape.parameters) out.resize(out.size() + leaves_of(parameter).size());
  const auto takers = takers_of_donors(
      module, [](const Shape& given, const Shape& taker) { return taker.byte_size() == given.byte_size(); });
  for (const auto& aliases : {module.aliases, takers})
    for (const InputOutputAlias& a : aliases)
      out[leaf_number(shape.parameters, a.parameter, a.parameter_index)] = true;
  return out;
}

}  // namespace

Signature signature_of(const Module& module) {
  const ProgramShape shape = module.entry()->program_shape();
  Signature out;
  const ProgramShape& laid_out = module.entry_layout ? *module.entry_layout : shape;
  for (const Shape& parameter : laid_out.parameters)
    for (const Shape* leaf : leaves_of(parameter)) out.arguments.push_back(with_layout(*leaf));
  for (const Shape* leaf : leaves_of(laid_out.result)) out.results.push_back(with_layout(*leaf));
  for (const Instruction* p : module.entry()->parameters())
    out.parameter_shardings.push_back(sharding_of(*p));
  out.result_sharding = module.result_sharding;
  out.donated = donated_by(module);
  return out;
}

// On the part of the pod that has the devices of the program.
void Built::compile(std::unique_ptr<Module> module, const sim::Pod* pod) {
  AskedRules rules(std::exchange(source.answers, {}), source.answers);
  const RulesInForce in_force(rules);
  if (pod == nullptr) {
    executable =
        Executable::compile(std::move(module), {.entry_layouts = true, .xla_flags = options.xla_flags});
    return;
  }
  std::vector<int> devices(options.devices.begin(), options.devices.end());
  for (int64_t d = options.devices.empty() ? 0 : options.num_devices(); d < options.num_devices(); ++d)
    devices.push_back(static_cast<int>(d));
  sim::Part part = sim::part_of(*pod, devices);
  executable =
      compile_for(std::move(module), part.pod, {.entry_layouts = true, .places = std::move(part.places)});
  simulated = note_simulated(executable, std::move(part.pod));
}

Built::Built(Source given, const Options& read, const sim::Pod* pod)
    : source(std::move(given)), options(read), fingerprint(fingerprint_of(source)) {
  std::unique_ptr<Module> module = read_program(source.format, source.code);
  module->replica_count = options.replicas;
  module->num_partitions = options.partitions;
  verify(*module);
  explain_recompile(*module);
  name = module->name();
  if (options.num_devices() == 1) forget_shardings(*module);
  cost = cost_of(*module);
  is_quick = options.num_devices() == 1 && runs_quickly(*module, cost);
  compile(std::move(module), pod);
  signature = signature_of(executable->module());  // of one device
  signature.result_memory_kinds = result_memory_kinds(source, signature.results.size());
}

const std::string& Built::optimized_program() const {
  std::call_once(once_, [this] { optimized_program_ = write_optimized_program(*this); });
  return optimized_program_;
}

PJRT_LoadedExecutable* load(PJRT_Client* client, std::shared_ptr<const Built> built) {
  const Options& options = built->options;
  auto loaded = std::make_unique<PJRT_LoadedExecutable>();
  loaded->client = client;
  for (int64_t d = 0; d < options.num_devices(); ++d)
    loaded->devices.push_back(
        client->device(static_cast<int>(options.devices.empty() ? d : options.devices[d])));
  loaded->set(std::move(built));
  return loaded.release();
}

namespace {

std::shared_ptr<const Built> build(const PJRT_Program& program, const char* options, size_t options_size,
                                   const PJRT_TopologyDescription* machine) {
  Source source{std::string(text(program.format, program.format_size)),
                std::string(text(program.code, program.code_size)),
                std::string(text(options, options_size)),
                {}};
  const Options read = read_options(source.options);
  return std::make_shared<Built>(std::move(source), read, machine ? machine->pod.get() : nullptr);
}

void check_devices(const PJRT_Client& client, const Options& options) {
  if (options.num_devices() > static_cast<int64_t>(client.devices.size()))
    throw user_error("the program runs on {} devices, and there are {}", options.num_devices(),
                     client.devices.size());
}

void compile_and_load(PJRT_Client_Compile_Args& args) {
  const Options read = read_options(text(args.compile_options, args.compile_options_size));
  check_devices(*args.client, read);
  const int64_t first = read.devices.empty() ? 0 : read.devices[0];
  WorkTracer tracer("Compilations", "compile", args.client->device(static_cast<int>(first)), 0);
  std::shared_ptr<const Built> built =
      build(*args.program, args.compile_options, args.compile_options_size, &args.client->topology);
  if (is_traced()) tracer.detail = built->name;
  args.executable = load(args.client, std::move(built));
}

void compile_only(PJRT_Compile_Args& args) {
  args.executable = new PJRT_Executable{
      build(*args.program, args.compile_options, args.compile_options_size, args.topology)};
}

void deserialize(PJRT_Executable_DeserializeAndLoad_Args& args) {
  Source source = source_from_bytes(text(args.serialized_executable, args.serialized_executable_size));
  if (args.overridden_serialized_compile_options != nullptr)
    source.options = std::string(
        text(args.overridden_serialized_compile_options, args.overridden_serialized_compile_options_size));
  const Options read = read_options(source.options);
  check_devices(*args.client, read);
  args.loaded_executable =
      load(args.client, std::make_shared<Built>(std::move(source), read, args.client->topology.pod.get()));
}

void destroy(PJRT_Executable_Destroy_Args& args) { delete args.executable; }
void destroy_loaded(PJRT_LoadedExecutable_Destroy_Args& args) { delete args.executable; }

void get_executable(PJRT_LoadedExecutable_GetExecutable_Args& args) {
  args.executable = new PJRT_Executable{args.loaded_executable->built()};
}

void devices(PJRT_LoadedExecutable_AddressableDevices_Args& args) {
  args.addressable_devices = args.executable->devices.data();
  args.num_addressable_devices = args.executable->devices.size();
}

void delete_executable(PJRT_LoadedExecutable_Delete_Args& args) { args.executable->set(nullptr); }
void is_deleted(PJRT_LoadedExecutable_IsDeleted_Args& args) {
  args.is_deleted = args.executable->is_deleted();
}

void fingerprint(PJRT_LoadedExecutable_Fingerprint_Args& args) {
  const auto built = args.executable->built();
  args.executable_fingerprint = built->fingerprint.c_str();
  args.executable_fingerprint_size = built->fingerprint.size();
}

}  // namespace

void add_executables(PJRT_Api& api) {
  api.PJRT_Client_Compile = guard<compile_and_load>;
  api.PJRT_Compile = guard<compile_only>;
  api.PJRT_Executable_DeserializeAndLoad = guard<deserialize>;
  api.PJRT_Executable_Destroy = guard<destroy>;
  api.PJRT_LoadedExecutable_Destroy = guard<destroy_loaded>;
  api.PJRT_LoadedExecutable_GetExecutable = guard<get_executable>;
  api.PJRT_LoadedExecutable_AddressableDevices = guard<devices>;
  api.PJRT_LoadedExecutable_Delete = guard<delete_executable>;
  api.PJRT_LoadedExecutable_IsDeleted = guard<is_deleted>;
  api.PJRT_LoadedExecutable_Fingerprint = guard<fingerprint>;
}

}  // namespace armillary::pjrt
