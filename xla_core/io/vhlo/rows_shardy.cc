// Shardy's operations, in the form in which XLA carries them through HLO: custom calls, and calls of local
// bodies.
#include "xla_core/io/vhlo/op_import.h"

namespace armillary::vhlo {
namespace {

Attrs custom_call(std::string_view target, bool has_effect) {
  Attrs attrs;
  attrs.set(Attr::custom_call_target, std::string(target));
  if (has_effect) attrs.set(Attr::custom_call_has_side_effect, true);
  return attrs;
}

std::string& note(OpImport& at, const char* name) { return (*at.frontend_attributes.mutable_map())[name]; }

void sharding_constraint(OpImport& at) {
  const Attribute& sharding = at.attribute("sharding");
  at.sharding = hlo_sharding(sharding, at.importer().meshes());
  Attribute per_value;
  per_value.kind = AttributeKind::kShardingPerValue;
  per_value.items = {&sharding};
  note(at, "xla.sdy.sharding") = mlir_text(per_value);
  at.give(at.emit(Op::custom_call, at.shape(), at.operands(), custom_call("Sharding", false)));
}

void sharding_group(OpImport& at) {
  note(at, "xla.sdy.sharding_group_id") = mlir_text(at.attribute("group_id"));
  at.emit(Op::custom_call, Shape::make_tuple({}), at.operands(), custom_call("xla.sdy.ShardingGroup", true));
}

void propagation_barrier(OpImport& at) {
  const int64_t direction = at.integer("allowed_direction");
  if (direction < 0 || direction > 3) throw user_error("a barrier allows the direction {}", direction);
  note(at, "xla.sdy.allowed_direction") = fmt::format("{} : i32", direction);
  at.give(
      at.emit(Op::custom_call, at.shape(), at.operands(), custom_call("xla.sdy.PropagationBarrier", true)));
}

// Arrays of all devices become one device's part, a body works on these, and its results become whole again.
void manual_computation(OpImport& at) {
  const Block& block = at.region(0);
  const std::string axes = mlir_text(at.attribute("manual_axes"));
  if (static_cast<int>(block.arguments.size()) != at.num_operands())
    throw user_error("the body takes {} values, not {}", block.arguments.size(), at.num_operands());
  std::vector<Instruction*> local;
  if (at.num_operands() > 0) {
    std::vector<Shape> shapes;
    for (const Value* v : block.arguments) shapes.push_back(shape_of(*v->type));
    const bool one = shapes.size() == 1;
    const proto::FrontendAttributes before = at.frontend_attributes;
    note(at, "xla.sdy.in_shardings") = mlir_text(at.attribute("in_shardings"));
    note(at, "xla.sdy.manual_axes") = axes;
    Instruction* parts = at.emit(Op::custom_call, one ? shapes[0] : Shape::make_tuple(shapes), at.operands(),
                                 custom_call("xla.sdy.GlobalToLocalShape", true));
    at.frontend_attributes = before;
    for (size_t i = 0; i < shapes.size(); ++i)
      local.push_back(one ? parts : at.emit_element(parts, static_cast<int64_t>(i)));
  }
  Computation* body = at.importer().body(block, "xla.sdy.manual_computation_body");
  const proto::FrontendAttributes before = at.frontend_attributes;
  note(at, "inlineable") = "false";
  Attrs attrs;
  attrs.set(Attr::to_apply, body);
  const Shape result = body->root()->shape();
  Instruction* called = at.emit(Op::call, result, local, std::move(attrs));
  std::vector<Instruction*> values;
  for (int i = 0; i < at.num_results(); ++i)
    values.push_back(at.num_results() == 1 ? called : at.emit_element(called, i));
  at.frontend_attributes = before;
  if (values.empty()) return;
  note(at, "xla.sdy.out_shardings") = mlir_text(at.attribute("out_shardings"));
  note(at, "xla.sdy.manual_axes") = axes;
  Instruction* whole =
      at.emit(Op::custom_call, at.tuple_shape(), values, custom_call("xla.sdy.LocalToGlobalShape", true));
  at.frontend_attributes = before;
  at.give_elements(whole);
}

}  // namespace

std::vector<OpRow> shardy_rows() {
  return {
      {"sdy", "manual_computation", {"in_shardings", "manual_axes", "out_shardings"}, manual_computation},
      {"sdy", "propagation_barrier", {"allowed_direction"}, propagation_barrier},
      {"sdy", "sharding_constraint", {"sharding"}, sharding_constraint},
      {"sdy", "sharding_group", {"group_id"}, sharding_group},
  };
}

}  // namespace armillary::vhlo
