// Shardy's attributes: meshes, axes, shardings. Code numbers as in its bytecode.td.
#include "xla_core/io/vhlo/attributes.h"

namespace armillary::vhlo {
namespace {

enum Code : uint64_t {
  kManualAxes,
  kMeshAxis,
  kMesh,
  kSubAxis,
  kAxisRef,
  kDimSharding,
  kSharding,
  kShardingPerValue,
  kDimMapping,
  kTensorMapping,
  kShardingRule,
  kAxisRefList,
  kListOfAxisRefLists,
  kAllToAllParam,
  kAllToAllParamList,
  kShardingUnreduced,
  kShardingPerValueUnreduced,
  kShardingReduction,
};

const Attribute* of_kind(const Attribute* a, AttributeKind kind) {
  if (a->kind != kind) throw user_error("a sharding holds an attribute of another kind");
  return a;
}

std::vector<const Attribute*> list_of(ByteReader& in, Attributes& table, AttributeKind kind) {
  std::vector<const Attribute*> list = table.read_attributes(in);
  for (const Attribute* a : list) of_kind(a, kind);
  return list;
}

void decode_sharding(uint64_t code, ByteReader& in, Attributes& table, Attribute& out) {
  out.kind = AttributeKind::kSharding;
  out.items.push_back(table.read_attribute(in));
  if (out.items[0]->kind != AttributeKind::kSymbol) of_kind(out.items[0], AttributeKind::kMesh);
  for (const Attribute* d : list_of(in, table, AttributeKind::kDimSharding)) out.items.push_back(d);
  out.replicated = list_of(in, table, AttributeKind::kAxisRef);
  if (code != kSharding) out.unreduced = list_of(in, table, AttributeKind::kAxisRef);
  if (code == kShardingReduction) out.number = in.signed_varint();
}

void decode_rule(ByteReader& in, Attributes& table, Attribute& out) {
  out.kind = AttributeKind::kShardingRule;
  out.lists.push_back(read_signed_list(in));
  out.items = list_of(in, table, AttributeKind::kTensorMapping);
  out.number = static_cast<int64_t>(out.items.size());
  for (const Attribute* m : list_of(in, table, AttributeKind::kTensorMapping)) out.items.push_back(m);
  for (int i = 0; i < 4; ++i) out.lists.push_back(read_signed_list(in));
  out.other = {in.byte()};
}

}  // namespace

void decode_sub_axis(ByteReader& in, Attribute& out) {
  out.kind = AttributeKind::kSubAxis;
  const int64_t before = in.signed_varint();
  out.numbers = {before, in.signed_varint()};
  if (out.numbers[0] < 1 || out.numbers[1] < 1) throw user_error("a part of an axis has no size");
}

void decode_sdy(ByteReader& in, Attributes& table, Attribute& out) {
  const uint64_t code = in.varint();
  switch (code) {
    case kManualAxes:
      out.kind = AttributeKind::kManualAxes;
      out.items = list_of(in, table, AttributeKind::kString);
      return;
    case kMeshAxis:
      out.kind = AttributeKind::kMeshAxis;
      out.text = table.read_string(in);
      out.number = in.signed_varint();
      if (out.number < 1) throw user_error("an axis of a mesh has the size {}", out.number);
      return;
    case kMesh:
      out.kind = AttributeKind::kMesh;
      out.items = list_of(in, table, AttributeKind::kMeshAxis);
      out.numbers = read_signed_list(in);
      return;
    case kSubAxis:
      return decode_sub_axis(in, out);
    case kAxisRef:
      out.kind = AttributeKind::kAxisRef;
      out.text = table.read_string(in);
      if (const Attribute* part = table.read_optional(in))
        out.items.push_back(of_kind(part, AttributeKind::kSubAxis));
      return;
    case kDimSharding: {
      out.kind = AttributeKind::kDimSharding;
      out.items = list_of(in, table, AttributeKind::kAxisRef);
      out.number = in.byte();
      const Flagged priority = in.flagged();
      out.other = {priority.flag ? static_cast<int64_t>(priority.value) : -1};
      return;
    }
    case kSharding:
    case kShardingUnreduced:
    case kShardingReduction:
      return decode_sharding(code, in, table, out);
    case kShardingPerValue:
    case kShardingPerValueUnreduced:
      out.kind = AttributeKind::kShardingPerValue;
      out.items = list_of(in, table, AttributeKind::kSharding);
      return;
    case kDimMapping:
      out.kind = AttributeKind::kDimMapping;
      out.numbers = read_signed_list(in);
      return;
    case kTensorMapping:
      out.kind = AttributeKind::kTensorMapping;
      out.items = list_of(in, table, AttributeKind::kDimMapping);
      return;
    case kShardingRule:
      return decode_rule(in, table, out);
    default:
      out.kind = AttributeKind::kUnsupported;
      return;  // an error where it is used
  }
}

}  // namespace armillary::vhlo
