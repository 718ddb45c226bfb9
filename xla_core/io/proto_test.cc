// Protos that are wrong in one place each, and what the reader says; modules to bytes and back.
#include "xla_core/io/proto.h"

#include <functional>

#include <gtest/gtest.h>

#include "xla_core/hlo/text.h"
#include "xla_core/io/hlo.pb.h"

namespace armillary {
namespace {

constexpr std::string_view kText =
    R"(HloModule example, entry_computation_layout={(f32[2]{0}, s32[])->(f32[2]{0}, f32[2,2]{0,1})}

%negate (a: f32[2]) -> f32[2] {
  %a = f32[2]{0} parameter(0)
  ROOT %n = f32[2]{0} negate(%a)
}

ENTRY %main (x: f32[2], y: s32[]) -> (f32[2], f32[2,2]) {
  %x = f32[2]{0} parameter(0)
  %y = s32[] parameter(1)
  %table = f32[2,2]{0,1} constant({ { 1, 2 }, { 3, 4 } })
  %z = f32[2]{0} call(%x), to_apply=%negate
  ROOT %r = (f32[2]{0}, f32[2,2]{0,1}) tuple(%z, %table)
}
)";

proto::HloModuleProto example() {
  proto::HloModuleProto p;
  EXPECT_TRUE(p.ParseFromString(to_proto(*parse(kText))));
  return p;
}

proto::HloInstructionProto* find(proto::HloModuleProto& p, std::string_view name) {
  for (auto& computation : *p.mutable_computations())
    for (auto& instruction : *computation.mutable_instructions())
      if (instruction.name() == name) return &instruction;
  ADD_FAILURE() << "no instruction " << name;
  return nullptr;
}

// The error after one change to the example, "" when it is read without one.
std::string error_after(const std::function<void(proto::HloModuleProto&)>& damage) {
  proto::HloModuleProto p = example();
  damage(p);
  try {
    from_proto(p.SerializeAsString());
  } catch (const Error& e) {
    EXPECT_NE(e.kind(), ErrorKind::kInternal) << e.what();
    return e.what();
  }
  return "";
}

void expect_error(std::string_view part, const std::function<void(proto::HloModuleProto&)>& damage) {
  const std::string error = error_after(damage);
  EXPECT_NE(error.find(part), std::string::npos) << "got: " << error;
}

TEST(Proto, TextAndProtoHoldTheSameModule) {
  const auto parsed = parse(kText);
  EXPECT_EQ(print(*from_proto(to_proto(*parsed))), print(*parsed));
}

TEST(Proto, LiteralsLieInTheOrderOfTheirLayout) {
  proto::HloModuleProto p = example();
  const auto& values = find(p, "table")->literal().f32s();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()), (std::vector<float>{1, 3, 2, 4}));
  const auto module = from_proto(p.SerializeAsString());
  EXPECT_EQ(module->entry()->root()->operand(1)->literal().get_double(1), 2);
}

TEST(Proto, NarrowIntegersAreTheirLowBits) {
  proto::HloModuleProto p;
  p.ParseFromString(to_proto(*parse("HloModule m\nENTRY e {\n ROOT c = s4[2] constant({-4, 3})\n}")));
  EXPECT_EQ(find(p, "c")->literal().s4s(), std::string("\x0c\x03"));
  EXPECT_EQ(from_proto(p.SerializeAsString())->entry()->root()->literal().get_int(0), -4);
}

TEST(Proto, AScheduleIsKept) {
  const auto module = parse(kText);
  module->is_scheduled = true;
  const auto again = from_proto(to_proto(*module));
  EXPECT_TRUE(again->is_scheduled);
  EXPECT_EQ(print(*again), print(*module));
}

TEST(Proto, AScheduleMustBeAnOrder) {
  auto scheduled = [](proto::HloModuleProto& p) -> auto& {
    const auto module = parse(kText);
    module->is_scheduled = true;
    p.ParseFromString(to_proto(*module));
    return *(*p.mutable_schedule()->mutable_sequences())[p.entry_computation_id()].mutable_instruction_ids();
  };
  expect_error("does not exist", [&](auto& p) { scheduled(p).Set(0, 99); });
  expect_error("before its operand", [&](auto& p) { scheduled(p).SwapElements(0, 4); });
  expect_error("twice", [&](auto& p) {
    auto& order = scheduled(p);
    order.Set(1, order.Get(0));
  });
  expect_error("of 5 instructions", [&](auto& p) { scheduled(p).RemoveLast(); });
}

TEST(Proto, IdsMustBeKnown) {
  expect_error("%z: operand 77 does not stand before", [](auto& p) { find(p, "z")->set_operand_ids(0, 77); });
  expect_error("does not stand before",
               [](auto& p) { find(p, "z")->set_operand_ids(0, find(p, "r")->id()); });
  expect_error("control predecessor",
               [](auto& p) { find(p, "x")->add_control_predecessor_ids(find(p, "z")->id()); });
  expect_error("two instructions have the id", [](auto& p) { find(p, "x")->set_id(find(p, "y")->id()); });
  expect_error("the root, instruction 77", [](auto& p) { p.mutable_computations(1)->set_root_id(77); });
  expect_error("two computations have the id",
               [](auto& p) { p.mutable_computations(1)->set_id(p.computations(0).id()); });
  expect_error("the entry, computation 77", [](auto& p) { p.set_entry_computation_id(77); });
}

TEST(Proto, CallsCannotFormACycle) {
  expect_error("does not stand before its caller", [](auto& p) {
    auto* n = find(p, "n");
    n->set_opcode("call");
    n->add_called_computation_ids(p.computations(1).id());
  });
}

TEST(Proto, NumbersOfCalleesAreChecked) {
  expect_error("call calls 1 computations, not 2", [](auto& p) {
    find(p, "z")->add_called_computation_ids(find(p, "z")->called_computation_ids(0));
  });
  expect_error("negate calls no computation",
               [](auto& p) { p.mutable_computations(1)->mutable_instructions(3)->set_opcode("negate"); });
}

TEST(Proto, ParametersAreNumberedOnce) {
  expect_error("second parameter with the number 0", [](auto& p) { find(p, "y")->set_parameter_number(0); });
  expect_error("parameter number 2 of 2", [](auto& p) { find(p, "y")->set_parameter_number(2); });
  expect_error("parameter number -1 of 2", [](auto& p) { find(p, "y")->set_parameter_number(-1); });
}

TEST(Proto, ShapesMustBePossible) {
  auto shape = [](proto::HloModuleProto& p) { return find(p, "x")->mutable_shape(); };
  expect_error("negative size -3", [&](auto& p) { shape(p)->set_dimensions(0, -3); });
  expect_error("too large", [&](auto& p) { shape(p)->set_dimensions(0, int64_t{1} << 62); });
  expect_error("element type number 99", [&](auto& p) { shape(p)->set_element_type(99); });
  expect_error("does not order 1 dimensions",
               [&](auto& p) { shape(p)->mutable_layout()->set_minor_to_major(0, 1); });
  expect_error("2 of 1 dimensions are said", [&](auto& p) { shape(p)->add_is_dynamic_dimension(true); });
  expect_error("has no dimensions", [&](auto& p) { shape(p)->set_element_type(13); });
}

TEST(Proto, LiteralsMustFillTheirShape) {
  expect_error("needs 4 elements, but has 5",
               [](auto& p) { find(p, "table")->mutable_literal()->add_f32s(1); });
  expect_error("needs 4 elements, but has 0",
               [](auto& p) { find(p, "table")->mutable_literal()->clear_f32s(); });
  expect_error("needs a literal", [](auto& p) { find(p, "table")->clear_literal(); });
  // A huge claim over no data must not be allocated.
  expect_error("elements, but has 4", [](auto& p) {
    for (auto* s : {find(p, "table")->mutable_shape(), find(p, "table")->mutable_literal()->mutable_shape()})
      s->set_dimensions(0, int64_t{1} << 40);
  });
}

TEST(Proto, AliasesMustNameWhatThereIs) {
  expect_error("there is no parameter 9",
               [](auto& p) { p.mutable_input_output_alias()->add_entries()->set_parameter_number(9); });
  expect_error("has no element 3",
               [](auto& p) { p.mutable_input_output_alias()->add_entries()->add_output_shape_index(3); });
  expect_error("there is no parameter -1",
               [](auto& p) { p.mutable_buffer_donor()->add_entries()->set_parameter_number(-1); });
}

TEST(Proto, TheEntryLayoutMustFit) {
  expect_error("for other parameters or another result",
               [](auto& p) { p.mutable_host_program_shape()->mutable_parameters()->RemoveLast(); });
}

TEST(Proto, MadeUpNamesTakeNoneThatIsThere) {
  proto::HloModuleProto p = example();
  find(p, "x")->set_name("negate.1");
  find(p, "y")->clear_name();
  find(p, "z")->set_name("negate.1");
  const auto module = from_proto(p.SerializeAsString());
  EXPECT_EQ(module->entry()->parameter(0)->name(), "negate.1");
  EXPECT_NE(module->entry()->root()->operand(0)->name(), "negate.1");
  EXPECT_FALSE(module->entry()->parameter(1)->name().empty());
}

TEST(Proto, PayloadsStandInForBackendConfigs) {
  proto::HloModuleProto p = example();
  p.add_payloads("{\"a\": 1}");
  find(p, "z")->mutable_backend_config_payload()->set_id(0);
  const auto module = from_proto(p.SerializeAsString());
  EXPECT_EQ(module->entry()->root()->operand(0)->attrs().raw(Attr::backend_config), "{\"a\": 1}");
  expect_error("there is no payload 5",
               [](auto& q) { find(q, "z")->mutable_backend_config_payload()->set_id(5); });
}

// XLA's reader wants the message even when all its lists are empty.
TEST(Proto, AProductOfScalarsHasDimensionNumbers) {
  const auto module = parse("HloModule m\nENTRY e { x = f32[] parameter(0) ROOT d = f32[] dot(x, x) }");
  proto::HloModuleProto p;
  ASSERT_TRUE(p.ParseFromString(to_proto(*module)));
  EXPECT_TRUE(find(p, "d")->has_dot_dimension_numbers());
}

}  // namespace
}  // namespace armillary
