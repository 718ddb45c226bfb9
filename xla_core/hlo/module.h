// Computations and the module that owns everything in them.
#pragma once

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "xla_core/hlo/instruction.h"

namespace armillary {

// A list of instructions in an order in which operands stand before users; the schedule, once the module is
// scheduled.
class Computation {
 public:
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  Module* module() const { return module_; }
  bool is_entry() const;

  const std::list<Instruction*>& instructions() const { return order_; }
  std::vector<Instruction*> snapshot() const {
    return {order_.begin(), order_.end()};
  }  // safe to iterate while editing
  int64_t size() const { return static_cast<int64_t>(order_.size()); }
  const std::vector<Instruction*>& parameters() const { return parameters_; }
  Instruction* parameter(int64_t i) const { return parameters_[i]; }
  Instruction* root() const { return root_; }
  void set_root(Instruction* root) { root_ = root; }
  ProgramShape program_shape() const;

  // Adds an instruction before `before` (at the end when nullptr). The shape is inferred from the row when
  // not given; shape and checks are NOT verified here (verify does). The name defaults to the op's name, made
  // unique.
  Instruction* add(Op op, std::vector<Instruction*> operands, Attrs attrs = {},
                   Instruction* before = nullptr);
  // A given name is taken as it is; its uniqueness is the caller's.
  Instruction* add(Op op, Shape shape, std::vector<Instruction*> operands, Attrs attrs = {},
                   Instruction* before = nullptr, std::string name = {});
  Instruction* add_parameter(int64_t number, Shape shape, std::string name = {},
                             Instruction* before = nullptr);
  Instruction* add_constant(Literal literal, Instruction* before = nullptr);
  // Same op, attributes, metadata, literal; other operands (and shape).
  Instruction* clone(const Instruction& original, std::vector<Instruction*> operands,
                     Instruction* before = nullptr);

  void erase(Instruction* i);             // must have no users and not be the root
  void remove_parameter(int64_t number);  // unused one; the later ones are renumbered
  void move_before(Instruction* i, Instruction* before);
  void reorder(
      const std::vector<Instruction*>& order);  // a permutation of the instructions; sets the schedule
  // Operands before users, from the root and effects down, deterministic. Contains every instruction.
  std::vector<Instruction*> post_order() const;

  std::string execution_thread;  // "" is main
  std::string other_attributes;  // after the closing brace, verbatim

 private:
  friend class Module;
  friend class Instruction;
  Computation(Module* module, std::string name) : module_(module), name_(std::move(name)) {}
  Instruction* insert(Instruction* i, std::vector<Instruction*> operands, Instruction* before);

  Module* module_;
  std::string name_;
  std::list<Instruction*> order_;
  std::vector<Instruction*> parameters_;
  Instruction* root_ = nullptr;
  bool erased_ = false;
};

// input_output_alias={ {out}: (param, {index}, may-alias) }
struct InputOutputAlias {
  Dims output_index;
  int64_t parameter = 0;
  Dims parameter_index;
  bool must = false;
  friend bool operator==(const InputOutputAlias&, const InputOutputAlias&) = default;
};
struct BufferDonor {
  int64_t parameter = 0;
  Dims parameter_index;
  friend bool operator==(const BufferDonor&, const BufferDonor&) = default;
};

// FileNames / FunctionNames / FileLocations / StackFrames; ids are 1-based, 0 is none.
struct StackFrames {
  struct Location {
    int64_t file = 0, function = 0, line = 0, end_line = 0, column = 0, end_column = 0;
  };
  struct Frame {
    int64_t location = 0, parent = 0;
  };
  std::vector<std::string> files, functions;
  std::vector<Location> locations;
  std::vector<Frame> frames;
  bool empty() const { return files.empty() && functions.empty() && locations.empty() && frames.empty(); }
};

class Module {
 public:
  explicit Module(std::string name) : name_(std::move(name)) {}
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  std::unique_ptr<Module> clone() const;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  std::string file;  // for messages: "model.hlo", or empty

  Computation* entry() const { return entry_; }
  void set_entry(Computation* c) { entry_ = c; }
  // In an order in which callees stand before callers (text order).
  std::vector<Computation*> computations() const;
  // Reachable from the entry, callees first.
  std::vector<Computation*> reachable() const;
  // The entry and what it calls as control flow (call, while, conditional, async), callees first: the ones
  // that own memory and have a schedule.
  std::vector<Computation*> control_computations() const;
  Computation* add_computation(std::string name);  // the name is made unique
  // A deep copy inside this module; callees are shared.
  Computation* clone_computation(const Computation& original);
  void erase(Computation* c);
  void erase_unreachable_computations();

  std::string unique_name(std::string_view base);  // "add" -> "add", then "add.1", ...; reserves it
  void reserve_name(std::string_view name);
  int64_t instruction_count() const;

  // Header.
  bool is_scheduled = false;
  int64_t replica_count = 1;
  int64_t num_partitions = 1;
  std::vector<InputOutputAlias> aliases;
  std::vector<BufferDonor> donors;
  // How the result's leaves are cut over the partitions, as `sharding` would say it; parameters say it
  // themselves. Empty before partitioning, and on one device.
  std::string result_sharding;
  std::optional<ProgramShape> entry_layout;  // entry_computation_layout, with layouts
  std::string frontend_attributes;           // braces included, verbatim; empty when absent
  std::vector<std::pair<std::string, std::string>>
      other_attributes;  // name, verbatim value: kept, not understood
  StackFrames stack_frames;

 private:
  friend class Computation;
  std::string name_;
  std::deque<std::unique_ptr<Instruction>>
      arena_;  // addresses are stable; erased ones stay until the module goes
  std::vector<std::unique_ptr<Computation>> computations_;
  Computation* entry_ = nullptr;
  int64_t next_id_ = 0;
  std::map<std::string, int64_t, std::less<>> names_;  // base -> next suffix
  std::unordered_set<std::string> taken_;
};

}  // namespace armillary
