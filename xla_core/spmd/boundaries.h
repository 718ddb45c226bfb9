// Custom calls with which annotations, manual regions and calls for one device enter a program.
#pragma once

#include "xla_core/spmd/marks.h"
#include "xla_core/spmd/mesh.h"

namespace armillary {

// Every device calls it with its own tiles, whatever sharding stands at the call.
inline constexpr std::string_view kPartitionedCallback = "xla_ffi_partitioned_python_cpu_callback";

class Boundaries {
 public:
  Boundaries(Module& m, Marks& marks);

  // Replaces those of a module by marks. Returns whether there were any.
  bool replace_all();

 private:
  Instruction* replaced(Instruction* i);
  Instruction* constraint(Instruction* i);
  Instruction* global_to_local(Instruction* i);
  Instruction* local_to_global(Instruction* i);
  Instruction* only_on(Instruction* i, int64_t device);
  std::vector<Sharding> manual_shardings(const Instruction* i, std::string_view key,
                                         const std::vector<int64_t>& ranks) const;

  Module& m_;
  Marks& marks_;
  Meshes meshes_;
};

std::vector<int64_t> ranks_of(const Shape& shape);  // of its leaves

}  // namespace armillary
