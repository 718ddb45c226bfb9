// A compiled program, and what both kinds of PJRT's handles on it share.
#pragma once

#include <mutex>

#include "xla_core/analysis/cost.h"
#include "xla_core/client/client.h"
#include "xla_core/client/simulated_programs.h"
#include "xla_core/pjrt/client.h"
#include "xla_core/pjrt/extensions.h"
#include "xla_core/pjrt/options.h"

namespace armillary::pjrt {

// A program as it was given to us, which is also how it is serialized.
struct Source {
  std::string format;   // "mlir", "hlo" or "hlo_with_config"
  std::string code;     // as the caller gave it
  std::string options;  // a CompileOptionsProto
  // What the user's own partitioning rules said, in order; empty until they are asked.
  std::vector<std::string> answers = {};
};
std::string join_parts(const std::vector<std::string>& parts);
std::vector<std::string> split_parts(std::string_view bytes);
std::string to_bytes(const Source& source);
Source source_from_bytes(std::string_view bytes);

// What PJRT asks of an executable whose module is compiled away by then.
struct Signature {
  std::vector<Shape> arguments, results;         // one a leaf, each with its layout
  std::vector<std::string> parameter_shardings;  // HLO text; empty where there is none
  std::string result_sharding;
  std::vector<int> result_memory_kinds;  // into kMemoryKinds
  std::vector<bool> donated;             // a leaf of a parameter that the program may overwrite
};

class Built {
 public:
  // For the machine's processor, or for a simulated pod.
  Built(Source source, const Options& options, const sim::Pod* pod);

  Source source;
  const Options options;
  std::string name, fingerprint;
  Signature signature;
  Cost cost;              // of the program as it was written
  bool is_quick = false;  // run sooner than handed to another thread
  std::shared_ptr<const Executable> executable;
  std::shared_ptr<SimulatedProgram> simulated;  // of a pod

  // A serialized HloModuleProtoWithConfig; made when it is first asked for.
  const std::string& optimized_program() const;

 private:
  void compile(std::unique_ptr<Module> module, const sim::Pod* pod);

  mutable std::once_flag once_;
  mutable std::string optimized_program_;
};

std::unique_ptr<Module> read_program(std::string_view format, std::string_view code);
// The layouts are those that the module states, which holds once it is compiled.
Signature signature_of(const Module& module);
// Into kMemoryKinds, one a result.
std::vector<int> result_memory_kinds(const Source& source, size_t results);
std::string write_optimized_program(const Built& built);
PJRT_LoadedExecutable* load(PJRT_Client* client, std::shared_ptr<const Built> built);

}  // namespace armillary::pjrt

struct PJRT_Executable {
  std::shared_ptr<const armillary::pjrt::Built> built;
  // What the getters point to.
  std::vector<PJRT_NamedValue> properties;
  std::vector<PJRT_Buffer_Type> types;
  std::vector<int64_t> dims;
  std::vector<size_t> ranks;
  std::vector<const char*> memory_kinds;
  std::vector<size_t> memory_kind_sizes;
  std::vector<std::unique_ptr<PJRT_Layouts_MemoryLayout>> owned_layouts;
  std::vector<PJRT_Layouts_MemoryLayout*> layouts;
};

struct PJRT_LoadedExecutable {
  PJRT_Client* client = nullptr;
  std::vector<PJRT_Device*> devices;  // replica * num_partitions + partition

  std::shared_ptr<const armillary::pjrt::Built> built() const;  // throws when it is deleted
  void set(std::shared_ptr<const armillary::pjrt::Built> built);
  bool is_deleted() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const armillary::pjrt::Built> built_;
};
