// Builds the HLO module: functions and regions become computations, operations instructions through their
// rows.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "xla_core/hlo/module.h"
#include "xla_core/io/hlo.pb.h"
#include "xla_core/io/vhlo/op_rows.h"
#include "xla_core/io/vhlo/places.h"
#include "xla_core/io/vhlo/shardings.h"
#include "xla_core/io/vhlo/values.h"

namespace armillary::vhlo {

// What a region becomes.
struct RegionForm {
  std::vector<Value*> captured = {};  // values from outside, which become arguments after the block's own
  bool one_argument = false;          // several arguments come as a tuple, none as an empty one
  bool returns_captured = false;      // as the body of a loop does
  std::vector<Sharding> arguments = {}, results = {};  // of each, or empty
  std::vector<bool> skipped = {};                      // arguments and results of the block that are left out
};

class Importer {
 public:
  Importer(Ir& ir, Module& module) : ir_(ir), module_(module), places_(module.stack_frames) {}

  void run();

  Module& module() { return module_; }
  Places& places() { return places_; }
  const Meshes& meshes() const { return meshes_; }

  // The computation of a function, built when it is first asked for.
  Computation* function(std::string_view symbol);
  const Operation* find_function(std::string_view symbol) const;
  Computation* region(const Block& block, const RegionForm& form = {});
  // The body of a manual computation: a function of its own.
  Computation* body(const Block& block, std::string_view name);
  // The instruction that stands for a value in a computation; constants appear where they are first used.
  Instruction* instruction(Value& value, Computation& into);

 private:
  struct Function {
    const Operation* op = nullptr;
    Computation* computation = nullptr;
    bool open = false;
  };
  void read_module();
  void read_functions();
  Computation* build(const Operation& function);
  void add_parameters(const Operation& function, const Block& block, Computation& into, bool is_entry);
  void add_region_arguments(const Block& block, const RegionForm& form, Computation& into);
  void import_block(const Block& block, Computation& into);
  void import_operation(Operation& op, Computation& into);
  void finish(const Operation& function, const Block& block, Computation& into, bool is_entry);
  void finish_entry(const Operation& function, size_t results, Computation& entry);
  Instruction* materialize(const Operation& constant, Computation& into);
  Instruction* add_tuple(Computation& into, std::vector<Instruction*> elements, const Sharding& sharding);

  Ir& ir_;
  Module& module_;
  Places places_;
  Meshes meshes_;
  std::unordered_map<std::string_view, Function> functions_;
  std::unordered_map<const Attribute*, std::shared_ptr<const Literal>> literals_;
  std::unordered_map<const Computation*, std::unordered_map<const Value*, Instruction*>> constants_;
  int64_t regions_ = 0;
  int depth_ = 0;
};

// The return that a block ends in.
const Operation& terminator_of(const Block& block);

// Values that are used in blocks and defined above them, in the order of their first use; constants are none
// of them.
std::vector<Value*> captured_by(std::span<const Block> blocks);

}  // namespace armillary::vhlo
