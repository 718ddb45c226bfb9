// One HLO instruction: an op, its operands, its attributes, its shape; and who uses it.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "xla_core/base/error.h"
#include "xla_core/ops/op.h"
#include "xla_core/shape/literal.h"

namespace armillary {

class Computation;
class Module;

// Where an instruction comes from. Strings are kept per instruction; frames through the module's stack frame
// tables.
struct Metadata {
  std::string op_type, op_name, source_file;
  int64_t source_line = 0, source_end_line = 0, source_column = 0, source_end_column = 0;
  int64_t stack_frame_id = 0;
  std::string deduplicated_name, scheduling_name;
  std::string other;  // fields we only carry, verbatim: profile_type={1} ...
  bool empty() const { return *this == Metadata(); }
  friend bool operator==(const Metadata&, const Metadata&) = default;
};

// Owned by its module's arena, ordered by its computation. Operands stand before their users in the
// computation's order.
class Instruction {
 public:
  Instruction(const Instruction&) = delete;
  Instruction& operator=(const Instruction&) = delete;

  Op op() const { return op_; }
  const OpDef& def() const { return armillary::def(op_); }
  bool is(Op op) const { return op_ == op; }
  int64_t id() const { return id_; }                 // unique in the module, stable
  const std::string& name() const { return name_; }  // unique in the module, without %
  void set_name(std::string name) {
    name_ = std::move(name);
  }  // uniqueness is the caller's; see Module::unique_name

  const Shape& shape() const { return shape_; }
  void set_shape(Shape shape) { shape_ = std::move(shape); }
  DType dtype() const { return shape_.dtype; }
  const Dims& dims() const { return shape_.dims; }

  std::span<Instruction* const> operands() const { return operands_; }
  Instruction* operand(int64_t i) const { return operands_[i]; }
  int64_t num_operands() const { return static_cast<int64_t>(operands_.size()); }
  // Distinct users in the order in which they began to use this.
  std::span<Instruction* const> users() const { return users_; }
  bool is_root() const;
  bool has_effect() const;  // the op's trait, or custom_call_has_side_effect, or an effectful callee
  void replace_operand(int64_t i, Instruction* with);
  void replace_all_uses_with(Instruction* with);  // also as the root; `with` must stand before the users

  const Attrs& attrs() const { return attrs_; }
  Attrs& attrs() { return attrs_; }
  bool has(Attr a) const { return attrs_.has(a); }
  bool has(Trait t) const { return def().has(t); }

  // Callees in attribute order (to_apply; calls; condition, body; ...).
  std::vector<Computation*> callees() const;
  void replace_callee(Computation* from, Computation* to);

  int64_t parameter_number() const { return parameter_number_; }
  void set_parameter_number(int64_t n) { parameter_number_ = n; }
  const Literal& literal() const;  // of a constant
  void set_literal(Literal literal) { literal_ = std::make_shared<const Literal>(std::move(literal)); }
  std::shared_ptr<const Literal> shared_literal() const { return literal_; }
  void set_shared_literal(std::shared_ptr<const Literal> l) { literal_ = std::move(l); }

  const std::vector<Instruction*>& control_predecessors() const { return control_predecessors_; }
  void add_control_predecessor(Instruction* before);
  void clear_control_predecessors() { control_predecessors_.clear(); }

  const Metadata& metadata() const;
  void set_metadata(Metadata m);

  Computation* parent() const { return parent_; }
  Module* module() const;
  bool dead() const { return parent_ == nullptr; }  // erased

  // What a row's functions see. The returned object holds the storage the OpContext points to.
  struct ContextStorage {
    std::vector<const Shape*> operands;
    std::vector<ProgramShape> callees;
    OpContext context(const Attrs& attrs, const Shape* stated) const {
      return {operands, attrs, callees, stated};
    }
  };
  ContextStorage context_storage() const;

  // "model.hlo:12:8: %y = add(%a, %b)" for messages; location is known when the parser set it.
  std::string place() const;
  std::string source_line() const;  // "train.py:41", or empty
  // "from train.py:41 in loss_fn (jit(step)/jvp(loss)/add)", or empty.
  std::string python_place() const;
  void set_text_position(int line, int column) {
    line_ = line;
    column_ = column;
  }
  int text_line() const { return line_; }
  int text_column() const { return column_; }

 private:
  friend class Computation;
  friend class Module;
  Instruction(Op op, Shape shape, int64_t id, std::string name)
      : op_(op), shape_(std::move(shape)), id_(id), name_(std::move(name)) {}
  bool is_used_by(const Instruction& user) const;
  void remove_user(Instruction* user);

  Op op_;
  Shape shape_;
  int64_t id_;
  std::string name_;
  std::vector<Instruction*> operands_;
  std::vector<Instruction*> users_;
  Attrs attrs_;
  int64_t parameter_number_ = -1;
  std::shared_ptr<const Literal> literal_;
  std::vector<Instruction*> control_predecessors_;
  std::shared_ptr<const Metadata> metadata_;
  Computation* parent_ = nullptr;
  bool is_control_predecessor_ = false;  // of somebody, once
  std::list<Instruction*>::iterator position_;
  int line_ = 0, column_ = 0;
};

// Errors that blame an instruction: its place, the message, and the user's Python line when the metadata has
// it.
Error make_error(ErrorKind kind, const Instruction& at, const std::string& message);
template <class... Args>
Error user_error(const Instruction& at, fmt::format_string<Args...> text, Args&&... args) {
  return make_error(ErrorKind::kUser, at, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
Error unsupported_error(const Instruction& at, fmt::format_string<Args...> text, Args&&... args) {
  return make_error(ErrorKind::kUnsupported, at, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace armillary
