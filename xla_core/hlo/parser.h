// The part of the parser that builds a module: header, computations, instructions. Internal; hlo/text.h is
// the interface.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "xla_core/hlo/module.h"
#include "xla_core/hlo/parse_parts.h"
#include "xla_core/hlo/text.h"

namespace armillary {

class Parser {
 public:
  Parser(std::string_view text, const ParseOptions& options);
  std::unique_ptr<Module> parse();

 private:
  // The computation whose body is being read.
  struct Scope {
    Computation* computation;
    std::unordered_map<std::string_view, Instruction*> names;
    Instruction* root = nullptr;
    bool create_parameters = false;  // a single instruction: operands nobody defined become parameters
  };
  // What is known of a computation by name. `begin` is where its text begins, at ENTRY or the name.
  struct Known {
    size_t begin = 0, end = 0;
    Computation* computation = nullptr;
    bool being_read = false;
  };
  // One instruction on its way from text to the module.
  struct Draft {
    size_t begin = 0;       // in the text, for messages
    std::string_view name;  // empty: named after the op
    const OpDef* op = nullptr;
    const OpDef* wrapped = nullptr;  // the X of X-start, X-update, X-done, when they are sugar
    std::optional<Shape> shape;
    std::vector<Instruction*> operands;
    Attrs attrs;
    int64_t parameter_number = -1;
    std::shared_ptr<const Literal> literal;
    std::vector<Instruction*> control_predecessors;
    Metadata metadata;
  };

  // parse_module.cc
  void read_computations();
  bool begins_computation();
  Computation* read_computation();
  Computation* read_body(std::string_view name, size_t begin);
  std::optional<Shape> read_signature();
  void check_result(const Computation& computation, const Shape& stated, size_t begin);
  void check_parameters(const Computation& computation, size_t begin);
  void read_trailing_attributes(Computation& computation);
  Computation* find_computation(std::string_view name, size_t position);
  void index_computations();
  void read_single_instruction();

  // parse_header.cc
  void read_header();
  void read_header_attribute(std::string_view name);
  Dims read_index();
  void read_aliases();
  void read_donors();
  void read_entry_layout();
  void read_stack_frames();

  // parse_instruction.cc
  Instruction* read_instruction(Scope& scope);
  Instruction* read_right_side(Scope& scope, Draft& draft);
  void read_opcode(Draft& draft);
  void read_operands(Scope& scope, Draft& draft);
  void read_parameter_number(Draft& draft);
  Instruction* read_operand(Scope& scope);
  Instruction* lookup(Scope& scope, std::string_view name, size_t position);
  Instruction* finish(Scope& scope, Draft& draft);
  Shape infer_shape(const Draft& draft);
  void define(Scope& scope, const Draft& draft, Instruction* made);
  std::string fresh_name(std::string_view wanted);

  // parse_instruction_attrs.cc
  void read_attributes(Scope& scope, Draft& draft);
  void read_attribute(Draft& draft, Attr attr, size_t begin);
  void read_control_predecessors(Scope& scope, Draft& draft);
  Computation* read_callee();
  std::vector<Computation*> read_callees();
  bool at_inline_body();
  std::string inline_name();
  void check_required(const Draft& draft);
  bool allowed(const Draft& draft, Attr attr) const;
  Error unknown_attribute(const Draft& draft, std::string_view name, size_t begin) const;

  // parse_async.cc
  void wrap_async(Draft& draft);
  Computation* async_body(Draft& draft);

  Scanner in_;
  const ParseOptions& options_;
  std::unique_ptr<Module> module_;
  std::unordered_map<std::string_view, Known> computations_;
  bool indexed_ = false;
  int inline_bodies_ = 0;
  std::unordered_set<std::string_view> taken_;  // instruction names, in the text or in made_names_
  std::deque<std::string> made_names_;
  std::unordered_map<std::string, int64_t> next_suffix_;  // for names that are taken
};

// Attributes that every instruction may carry.
inline bool is_common(Attr attr) { return attr <= Attr::result_accuracy; }

}  // namespace armillary
