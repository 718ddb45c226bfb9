#include "xla_core/io/vhlo/quantized.h"

#include <algorithm>
#include <deque>

namespace armillary::vhlo {
namespace {

const Quantization* quantization_of(const Value* value) { return value->type->quantization.get(); }

// Quantizations of operands, results and what the regions take and return.
std::vector<const Quantization*> quantizations_of(const Operation& op) {
  std::vector<const Quantization*> found;
  auto look_at = [&](const std::vector<Value*>& values) {
    for (const Value* value : values)
      if (const Quantization* q = quantization_of(value)) found.push_back(q);
  };
  look_at(op.operands);
  look_at(op.results);
  for (const Block& block : op.regions) {
    look_at(block.arguments);
    if (!block.operations.empty()) look_at(block.operations.back()->operands);
  }
  return found;
}

// Where they differ only in the axis they lie along, as in a transpose, integers can be moved as well.
bool same_numbers(const Quantization& a, const Quantization& b) {
  Quantization moved = a;
  if (a.axis >= 0 && b.axis >= 0) moved.axis = b.axis;
  return moved == b;
}

bool through_floats(const Operation& op) {
  if (op.row->quantized == Quantized::kAsStored) return false;
  const std::vector<const Quantization*> all = quantizations_of(op);
  if (all.empty()) return false;
  const bool equal =
      std::all_of(all.begin(), all.end(), [&](const Quantization* q) { return same_numbers(*q, *all[0]); });
  if (op.row->quantized == Quantized::kMoved && equal && !op.operands.empty() &&
      std::any_of(op.operands.begin(), op.operands.end(), quantization_of))
    return false;
  if (!op.regions.empty()) throw unsupported_error("a region over values of several quantized types");
  return true;
}

// What is emitted around an operation carries none of its notes, which are about its own operands.
OpImport without_notes(Importer& importer, Operation& op, Computation& into) {
  OpImport at(importer, op, into);
  at.sharding.reset();
  at.frontend_attributes.clear_map();
  return at;
}

// The operation with floats in place of quantized values.
class Floats {
 public:
  explicit Floats(const Operation& op) : op_(op) {}

  Operation& op() { return op_; }
  void dequantize_operands(OpImport& at) {
    for (size_t i = 0; i < op_.operands.size(); ++i)
      if (const Quantization* q = quantization_of(op_.operands[i])) {
        Instruction* x = dequantize(at, at.operand(static_cast<int>(i)), *q);
        op_.operands[i] = stand_in(*op_.operands[i], *q, x);
      }
    for (Value*& result : op_.results)
      if (const Quantization* q = quantization_of(result)) result = stand_in(*result, *q, nullptr);
  }

 private:
  Value* stand_in(const Value& value, const Quantization& q, Instruction* now) {
    Type& type = types_.emplace_back(*value.type);
    type.shape = type.shape.with_dtype(q.expressed);
    type.quantization = nullptr;
    Value& made = values_.emplace_back(value);
    made.type = &type;
    made.owner = nullptr;
    made.now = now;
    return &made;
  }

  Operation op_;
  std::deque<Type> types_;
  std::deque<Value> values_;
};

}  // namespace

void import_row(Importer& importer, Operation& op, Computation& into) {
  if (!through_floats(op)) {
    OpImport at(importer, op, into);
    return op.row->import(at);
  }
  OpImport around = without_notes(importer, op, into);
  Floats floats(op);
  floats.dequantize_operands(around);
  OpImport at(importer, floats.op(), into);
  op.row->import(at);
  for (size_t i = 0; i < op.results.size(); ++i) {
    Instruction* result = floats.op().results[i]->now;
    if (const Quantization* q = quantization_of(op.results[i])) result = quantize(around, result, *q);
    around.give(static_cast<int>(i), result);
  }
}

}  // namespace armillary::vhlo
