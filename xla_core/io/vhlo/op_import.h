// One operation on its way to HLO: its operands as instructions, its attributes, and the means to make its
// results.
#pragma once

#include "xla_core/io/vhlo/importer.h"

namespace armillary::vhlo {

// The strings of a dictionary.
void add_frontend_attributes(const Attribute& dictionary, proto::FrontendAttributes& out);
void set_frontend_attributes(Instruction* i, const proto::FrontendAttributes& attributes);

// What a row's function sees of an operation, and the means to make instructions of it.
class OpImport {
 public:
  OpImport(Importer& importer, Operation& op, Computation& into);

  const Operation& op() const { return op_; }
  Operation& op() { return op_; }
  Importer& importer() { return importer_; }
  const Meshes& meshes() const { return importer_.meshes(); }
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
