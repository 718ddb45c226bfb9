// The IR section: operations, blocks and regions, with values by their numbers.
#include "xla_core/io/vhlo/attributes.h"
#include "xla_core/io/vhlo/ir.h"
#include "xla_core/io/vhlo/op_rows.h"

namespace armillary::vhlo {
namespace {

// Versions of the bytecode format in which something was added.
constexpr uint64_t kIsolatedInSections = 2, kUseListOrders = 3, kElidesUnknownPlaces = 4;

// What an operation has, as bits.
enum Part : uint8_t {
  kHasAttributes = 1,
  kHasResults = 2,
  kHasOperands = 4,
  kHasSuccessors = 8,
  kHasRegions = 16,
  kHasUseListOrders = 32,
  kHasProperties = 64,
};

constexpr int kMaxNesting = 200;  // of regions

// Values are numbered from the nearest region that sees nothing above it; those of a region lie together.
using Scope = std::vector<Value*>;

class Reader {
 public:
  Reader(const Sections& sections, Attributes& table, Ir& ir) : sections_(sections), table_(table), ir_(ir) {}

  void read() {
    ByteReader in = sections_.section(SectionId::kIr);
    Scope scope;
    size_t next = 0;
    Block top;
    read_block(in, scope, next, top);
    if (top.operations.size() != 1 || top.operations[0]->name != "module")
      throw user_error("it holds {} operations where one module should be", top.operations.size());
    ir_.module = top.operations[0];
  }

 private:
  void read_block(ByteReader& in, Scope& scope, size_t& next, Block& block) {
    const Flagged head = in.flagged();
    if (head.flag) read_arguments(in, scope, next, block);
    const size_t n = in.fitting(head.value);
    block.operations.reserve(n);
    for (size_t i = 0; i < n; ++i)
      if (Operation* op = read_operation(in, scope, next)) block.operations.push_back(op);
  }

  void read_arguments(ByteReader& in, Scope& scope, size_t& next, Block& block) {
    for (size_t i = 0, n = in.count(); i < n; ++i) {
      Value& value = new_value();
      if (sections_.version() < kElidesUnknownPlaces) {
        value.type = table_.read_type(in);
        value.location = table_.read_attribute(in);
      } else {
        const Flagged type = in.flagged();
        value.type = table_.type(type.value);
        if (type.flag) value.location = table_.read_attribute(in);
      }
      block.arguments.push_back(&value);
      define(scope, next, value);
    }
    if (sections_.version() >= kUseListOrders && in.byte()) skip_use_list_orders(in, block.arguments.size());
  }

  Value& new_value() {
    Value& value = ir_.values.emplace_back();
    value.number = static_cast<int64_t>(ir_.values.size()) - 1;
    return value;
  }

  static void define(Scope& scope, size_t& next, Value& value) {
    if (next >= scope.size()) throw user_error("a region defines more than its {} values", scope.size());
    scope[next++] = &value;
  }

  // nullptr for what is only there to please types.
  Operation* read_operation(ByteReader& in, Scope& scope, size_t& next) {
    const OpName& name = sections_.op_name(in.varint());
    Operation& op = ir_.operations.emplace_back();
    op.row = name.row;
    op.dialect = name.dialect;
    op.name = name.name;
    const uint8_t parts = in.byte();
    op.location = table_.read_attribute(in);
    if (parts & kHasAttributes) {
      op.attributes = table_.read_attribute(in);
      if (op.attributes->kind != AttributeKind::kDictionary)
        throw user_error("the attributes of {} are no dictionary", op.name);
    }
    if (parts & kHasProperties) read_properties(in, op);
    if (parts & kHasResults) {
      for (size_t i = 0, n = in.count(); i < n; ++i) {
        Value& value = new_value();
        value.type = table_.read_type(in);
        value.owner = &op;
        value.location = op.location;
        op.results.push_back(&value);
      }
    }
    if (parts & kHasOperands) read_operands(in, scope, op);
    if (parts & kHasSuccessors) throw unsupported_error("{} branches between blocks", op.name);
    if ((parts & kHasUseListOrders) && sections_.version() >= kUseListOrders)
      skip_use_list_orders(in, op.results.size());
    if (op.dialect == "builtin" && op.name == "unrealized_conversion_cast") {
      look_through(op, scope, next);
      return nullptr;
    }
    // Defined last, so that an operation cannot be its own operand.
    for (Value* value : op.results) define(scope, next, *value);
    if (parts & kHasRegions) read_regions(in, scope, op);
    return &op;
  }

  // Shardy's operations keep MLIR's own types, StableHLO's have versions of them: each result is its operand.
  static void look_through(const Operation& cast, Scope& scope, size_t& next) {
    if (cast.operands.size() != cast.results.size() || !cast.regions.empty())
      throw user_error("a conversion of {} values into {}", cast.operands.size(), cast.results.size());
    for (size_t i = 0; i < cast.operands.size(); ++i) {
      const Type &from = *cast.operands[i]->type, &to = *cast.results[i]->type;
      if (from.kind != to.kind || from.shape != to.shape || from.quantization != to.quantization)
        throw user_error("a conversion that changes a value");
      define(scope, next, *cast.operands[i]);
    }
  }

  void read_operands(ByteReader& in, const Scope& scope, Operation& op) {
    op.operands.resize(in.count());
    for (Value*& operand : op.operands) {
      operand = Sections::at(scope, in.varint(), "value");
      if (operand == nullptr) throw user_error("an operand of {} is not defined before it", op.name);
    }
  }

  // One attribute a name of the row; optional ones say first whether they are there.
  void read_properties(ByteReader& in, Operation& op) {
    ByteReader data = sections_.properties(in.varint());
    if (op.row == nullptr) return;
    for (std::string_view name : op.row->properties)
      op.properties.push_back(name.ends_with('?') ? table_.read_optional(data) : table_.read_attribute(data));
  }

  void read_regions(ByteReader& in, Scope& scope, Operation& op) {
    const Flagged head = in.flagged();
    op.regions.resize(in.fitting(head.value));
    if (++depth_ > kMaxNesting) throw user_error("regions nest deeper than {}", kMaxNesting);
    if (!head.flag || op.regions.empty()) {
      for (Block& block : op.regions) read_region(in, scope, block);
    } else {
      Scope own;
      ByteReader inner = in;
      if (sections_.version() >= kIsolatedInSections) inner = read_section(in).data;
      for (Block& block : op.regions) read_region(inner, own, block);
      if (sections_.version() < kIsolatedInSections) in = inner;
    }
    --depth_;
  }

  void read_region(ByteReader& in, Scope& scope, Block& block) {
    const uint64_t blocks = in.varint();
    if (blocks == 0) return;
    if (blocks > 1) throw unsupported_error("a region of {} blocks", blocks);
    const size_t outside = scope.size();
    scope.resize(outside + in.count());
    size_t next = outside;
    block.first_value = static_cast<int64_t>(ir_.values.size());
    read_block(in, scope, next, block);
    block.end_value = static_cast<int64_t>(ir_.values.size());
    scope.resize(outside);
  }

  // The order in which users stand in a list says nothing to us.
  static void skip_use_list_orders(ByteReader& in, size_t values) {
    const uint64_t n = values > 1 ? in.count() : 1;
    for (uint64_t i = 0; i < n; ++i) {
      if (values > 1) in.varint();
      for (uint64_t k = 0, indices = in.flagged().value; k < indices; ++k) in.varint();
    }
  }

  const Sections& sections_;
  Attributes& table_;
  Ir& ir_;
  int depth_ = 0;
};

}  // namespace

const Attribute* Attribute::find(std::string_view name) const {
  for (size_t i = 0; i + 1 < items.size(); i += 2)
    if (items[i]->text == name) return items[i + 1];
  return nullptr;
}

const Attribute* Operation::find(std::string_view name) const {
  for (size_t i = 0; i < properties.size(); ++i) {
    std::string_view known = row->properties[i];
    if (known.ends_with('?')) known.remove_suffix(1);
    if (known == name) return properties[i];
  }
  return attributes ? attributes->find(name) : nullptr;
}

void read_artifact(Bytes bytes, Ir& ir) {
  const Sections sections(bytes);
  Attributes table(sections, ir);
  Reader(sections, table, ir).read();
}

}  // namespace armillary::vhlo
