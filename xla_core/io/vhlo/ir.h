// What a StableHLO artifact holds once its bytes are read: attributes, types, operations, before they become
// HLO. Texts and data are views of the artifact's bytes.
#pragma once

#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "xla_core/io/vhlo/byte_reader.h"
#include "xla_core/shape/shape.h"

namespace armillary {
class Instruction;
}

namespace armillary::vhlo {

struct OpRow;

enum class TypeKind : uint8_t {
  kElement,  // shape is a scalar of it
  kTensor,
  kToken,
  kTuple,
  kIndex,
  kNone,
  kFunction,   // items: inputs, then results
  kQuantized,  // an element; shape is a scalar of its storage
  kTf32,       // only names an algorithm
  kFuture,     // items: what an asynchronous operation will give
  kOther,
};

// What integers stand for: (integer - zero point) * scale.
struct Quantization {
  DType storage = DType::kInvalid, expressed = DType::kInvalid;
  int64_t axis = -1;  // each slice along it has its scale and zero point; -1: one for all
  std::vector<double> scales;
  Dims zero_points;
  int64_t min = 0, max = 0;  // of what is stored
  bool operator==(const Quantization&) const = default;
};

struct Type {
  TypeKind kind = TypeKind::kOther;
  Shape shape;
  std::vector<const Type*> items;
  size_t inputs = 0;                                 // of a function
  std::shared_ptr<const Quantization> quantization;  // of an element or tensor; the shape is that of storage
  bool is_value() const { return kind >= TypeKind::kTensor && kind <= TypeKind::kTuple; }
};

// In brackets: the fields that mean something.
enum class AttributeKind : uint8_t {
  kText,        // [text]: in the textual form that we do not read
  kArray,       // [items]
  kDictionary,  // [items]: name, value, name, value, ...
  kString,      // [text]
  kSymbol,      // [text]
  kType,        // [type]
  kUnit,
  kBool,        // [number]
  kInteger,     // [type, number]
  kFloat,       // [type, number]: the bits
  kTensor,      // [type, data]; pred is packed to bits
  kDenseArray,  // [type, number, data]: the count
  kEnum,        // [number]
  kAlias,       // [numbers: output index, other: operand index, number: operand]
  kBounds,      // [numbers]
  kAccuracy,    // [number: mode, other: ulps, reals: atol and rtol]
  kUnsupported,
  // Places in the user's program.
  kCallSite,   // [items: callee, caller]
  kFileRange,  // [text, numbers: line, column, end column; or line, column, end line, end column]
  kFused,      // [items]
  kName,       // [text, items: child]
  kUnknownPlace,
  // Shardy's.
  kManualAxes,        // [items: strings]
  kMeshAxis,          // [text, number: size]
  kMesh,              // [items: axes, numbers: device ids]
  kSubAxis,           // [numbers: pre-size, size]
  kAxisRef,           // [text, items: sub-axis, or none]
  kDimSharding,       // [items: axes, number: is closed, other: priority or -1]
  kSharding,          // [items: mesh or its name, dimensions; axes: replicated, unreduced; number: reduction]
  kShardingPerValue,  // [items]
  kDimMapping,        // [numbers]
  kTensorMapping,     // [items]
  kMeshGroups,        // [items: mesh or its name, axes]
  kShardingRule,      // [lists: sizes, reduction, replication, permutation, blocked; items: mappings; number:
                      // operands; other: is custom]
};

struct Attribute {
  AttributeKind kind = AttributeKind::kUnit;
  std::string_view text;
  int64_t number = 0;
  const Type* type = nullptr;
  std::vector<const Attribute*> items;
  Dims numbers;
  Bytes data;
  // For the few kinds that need more.
  Dims other;
  std::vector<double> reals;
  std::vector<const Attribute*> replicated, unreduced;
  std::vector<Dims> lists;

  const Attribute* find(std::string_view name) const;  // in a dictionary; nullptr when absent
};

struct Operation;

struct Value {
  const Type* type = nullptr;
  const Operation* owner = nullptr;  // none for the argument of a block
  const Attribute* location = nullptr;
  int64_t number = 0;          // in the order of definition in the file
  Instruction* now = nullptr;  // what stands for it in the computation that is being built
};

struct Block {
  std::vector<Value*> arguments;
  std::vector<Operation*> operations;
  int64_t first_value = 0, end_value = 0;  // the numbers of what is defined inside, nested blocks included
};

struct Operation {
  const OpRow* row = nullptr;
  std::string_view dialect, name;
  const Attribute* location = nullptr;
  const Attribute* attributes = nullptr;     // a dictionary, or none
  std::vector<const Attribute*> properties;  // in the order of the row's names; nullptr when absent
  std::vector<Value*> operands, results;
  std::vector<Block> regions;

  const Attribute* find(std::string_view name) const;  // property or attribute; nullptr when absent
};

struct Ir {
  std::deque<Attribute> attributes;
  std::deque<Type> types;
  std::deque<Value> values;
  std::deque<Operation> operations;
  Operation* module = nullptr;
};

// Reads the bytes of an artifact, which must outlive the result. Throws Error{kUser} on anything malformed,
// Error{kUnsupported} on another version.
void read_artifact(Bytes bytes, Ir& ir);

}  // namespace armillary::vhlo
