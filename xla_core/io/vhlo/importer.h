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

using Sharding = std::optional<proto::OpSharding>;

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
  void finish_entry(Computation& entry);
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

// Values that are used in blocks and defined above them, in the order of their first use; constants are none
// of them.
std::vector<Value*> captured_by(std::span<const Block> blocks);

// The strings of a dictionary.
void add_frontend_attributes(const Attribute& dictionary, proto::FrontendAttributes& out);

// What a row's function sees of an operation, and the means to make instructions of it.
class OpImport {
 public:
  OpImport(Importer& importer, Operation& op, Computation& into);

  const Operation& op() const { return op_; }
  Operation& op() { return op_; }
  Importer& importer() { return importer_; }
  Computation& into() { return into_; }

  int num_operands() const { return static_cast<int>(op_.operands.size()); }
  int num_results() const { return static_cast<int>(op_.results.size()); }
  Instruction* operand(int i);
  std::vector<Instruction*> operands() { return operands(0, num_operands()); }
  std::vector<Instruction*> operands(int begin, int end);
  const Shape& shape(int i = 0) const;  // of a result
  Shape tuple_shape() const;            // of all results; of one, its own
  const Block& region(int i) const;

  // Attributes; without `?` in the name of the function they must be there.
  const Attribute* find(std::string_view name) const;
  const Attribute& attribute(std::string_view name) const;
  int64_t integer(std::string_view name) const { return integer_of(attribute(name)); }
  bool flag(std::string_view name) const;  // false when absent
  Dims ints(std::string_view name) const { return ints_of(attribute(name)); }
  std::string_view text(std::string_view name) const { return text_of(attribute(name)); }

  // Instructions carry the operation's place, sharding and frontend attributes.
  Instruction* emit(Op op, Shape shape, std::vector<Instruction*> operands, Attrs attrs = {});
  Instruction* emit_tuple(std::vector<Instruction*> elements);
  // The only element itself, or a tuple.
  Instruction* emit_one(std::vector<Instruction*> elements);
  Instruction* emit_element(Instruction* tuple, int64_t index);
  void give(int result, Instruction* value);
  void give(Instruction* value) { give(0, value); }
  // Each result is an element of the tuple; a single one is the value itself.
  void give_elements(Instruction* value, bool even_of_one = false);

  Sharding sharding;  // of what is emitted
  proto::FrontendAttributes frontend_attributes;

 private:
  Importer& importer_;
  Operation& op_;
  Computation& into_;
};

}  // namespace armillary::vhlo
