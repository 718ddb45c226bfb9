// From instructions to commands.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "tpu_sim/isa.h"
#include "xla_core/backends/tpu/body_work.h"
#include "xla_core/backends/tpu/machine.h"
#include "xla_core/backends/tpu/vmem.h"
#include "xla_core/buffers/assign.h"

namespace armillary::tpu {

using Commands = std::vector<sim::Command>;

// What lowering may ask about where arrays are.
struct Places {
  const Values* values = nullptr;  // nullptr: nothing is known, all is in HBM
  const Residents* residents = nullptr;
  const Assignment* assignment = nullptr;

  bool in_vmem(const Instruction* i, size_t leaf = 0) const;
};

// Bytes that a command reads from HBM, by the instruction that made them.
using HbmReads = std::vector<std::pair<const Instruction*, int64_t>>;

// An instruction's commands.
struct Lowered {
  const Instruction* instruction = nullptr;
  Commands commands;
  HbmReads reads;                // of the last command, if that is a loop
  std::optional<BodyWork> work;  // of a lone loop
  bool continues = false;        // its work is in the command before
};

class Lowering {
 public:
  Lowering(const Machine& machine, Places places);

  // The commands of a scheduled computation, those of its callees in loops and branches.
  Commands lower(const Computation& computation);
  Commands lower(const Instruction& instr);

  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Commands lower_while(const Instruction& i);
  Commands lower_conditional(const Instruction& i);
  Commands lower_collective(const Instruction& i);
  Commands lower_fusion(const Instruction& i);
  sim::Command contraction(const Instruction& i, const BodyWork& work);
  sim::FusedLoop matrix_loop(sim::Matmul product);
  sim::Command loop(const Instruction& i, const BodyWork& work, sim::OpClass op_class);
  void add_copies(const std::vector<Slice>& from, const std::vector<Slice>& to, const Instruction& source,
                  const Instruction& target, Commands& out) const;
  void add_updates_apart(const Instruction& i, Commands& out) const;
  void note(const Instruction& i, std::string text);

  const Machine& machine_;
  Places places_;
  int64_t tile_budget_;  // VMEM that is left for tiles
  std::vector<std::string> notes_;
  HbmReads hbm_reads_;            // of the loop that was lowered last
  std::optional<BodyWork> work_;  // and what it does, if nothing stands before it
  std::unordered_map<const Instruction*, int> handles_;
  int next_handle_ = 0;
  std::map<std::string, std::shared_ptr<const sim::DeviceGroups>> groups_;
  std::map<std::vector<int64_t>, sim::MatmulBlocks> blocks_;
};

// Bytes of VMEM for temporaries that stay; the rest is for the tiles of loops.
int64_t resident_capacity(const sim::Chip& chip);
int64_t vmem_bytes(const sim::Chip& chip);

// infeed, outfeed, send, recv.
bool talks_to_host(const Instruction& i);

sim::Label label_of(const Instruction& i, sim::OpClass op_class, double flops = 0);

// Ops that no loop over elements describes (sort, gather, scatter, fft, random bits, custom calls ...), one
// row each; false: it has none.
struct SpecialWork {
  std::variant<sim::IndexedAccess, sim::Serial, sim::Tile> what;
  sim::OpClass op_class = sim::OpClass::kOther;
  bool rough = false;  // priced as slow, for want of something better: the report says so
};
bool special_work(const Instruction& i, SpecialWork* work);

}  // namespace armillary::tpu
