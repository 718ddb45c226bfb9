#include <gtest/gtest.h>

#include "xla_core/hlo/text.h"
#include "xla_core/hlo/verify.h"

namespace armillary {
namespace {

std::string error_of(const std::string& text) {
  try {
    verify(*parse(text));
    return "no error";
  } catch (const Error& e) {
    return e.what();
  }
}

std::string repeat(std::string_view piece, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += piece;
  return out;
}

std::string entry_with(const std::string& root) {
  return "HloModule m\nENTRY e {\n  ROOT r = " + root + "\n}\n";
}

constexpr int kDeep = 50'000;

TEST(Nesting, deep_operands_are_an_error) {
  EXPECT_NE(error_of(entry_with(repeat("f32[] negate(", kDeep) + "f32[] parameter(0)" + repeat(")", kDeep)))
                .find("nested deeper than 500 levels"),
            std::string::npos);
  EXPECT_NE(error_of(repeat("f32[] negate(", kDeep)).find("nested deeper than 500 levels"),
            std::string::npos);
}

TEST(Nesting, deep_shapes_are_an_error) {
  EXPECT_NE(error_of(entry_with(repeat("(", kDeep) + "f32[]" + repeat(")", kDeep) + " parameter(0)"))
                .find("nested deeper than 500 levels"),
            std::string::npos);
  EXPECT_NE(error_of(entry_with(repeat("b(", kDeep))).find("nested deeper than 500 levels"),
            std::string::npos);
}

TEST(Nesting, deep_literals_are_an_error) {
  const std::string shape = "f32[" + repeat("1,", kDeep - 1) + "1]";
  EXPECT_NE(error_of(entry_with(shape + " constant(" + repeat("{", kDeep) + "1" + repeat("}", kDeep) + ")"))
                .find("nested deeper than 500 levels"),
            std::string::npos);
}

TEST(Nesting, deep_inline_computations_are_an_error) {
  EXPECT_NE(error_of(entry_with(repeat("f32[] call(f32[] parameter(0)), to_apply={ ROOT r = ", kDeep)))
                .find("nested deeper than 500 levels"),
            std::string::npos);
}

TEST(Nesting, deep_shardings_and_braces_are_no_overflow) {
  EXPECT_NE(error_of(entry_with("f32[] parameter(0), sharding=" + repeat("{", kDeep) + repeat("}", kDeep)))
                .find("nested deeper than 50 levels"),
            std::string::npos);
  EXPECT_EQ(error_of(entry_with("f32[] parameter(0), origin=" + repeat("{", kDeep) + repeat("}", kDeep))),
            "no error");
}

TEST(Nesting, a_long_chain_of_calls_in_text_order_is_fine) {
  std::string text = "HloModule m\nf0 { ROOT x = f32[] parameter(0) }\n";
  constexpr int kCalls = 5'000;
  for (int i = 1; i < kCalls; ++i)
    text +=
        fmt::format("f{} {{\n x = f32[] parameter(0)\n ROOT y = f32[] call(x), to_apply=f{}\n}}\n", i, i - 1);
  EXPECT_EQ(error_of(text), "no error");
}

TEST(Nesting, a_long_chain_of_calls_against_text_order_is_an_error) {
  std::string text = "HloModule m\n";
  for (int i = 0; i < kDeep; ++i)
    text +=
        fmt::format("f{} {{\n x = f32[] parameter(0)\n ROOT y = f32[] call(x), to_apply=f{}\n}}\n", i, i + 1);
  EXPECT_NE(error_of(text + fmt::format("f{} {{ ROOT x = f32[] parameter(0) }}\n", kDeep))
                .find("nested deeper than 500 levels"),
            std::string::npos);
}

TEST(Memory, an_elided_constant_takes_none_until_it_is_filled) {
  const auto module = parse(entry_with("f32[4000000000] constant({...})"));
  const Literal& literal = module->entry()->root()->literal();
  EXPECT_TRUE(literal.elided());
  EXPECT_EQ(literal.get_double(3'999'999'999), 0);  // readable, though nobody knows the value
}

TEST(Memory, two_elided_constants_are_not_known_to_be_equal) {
  const Shape shape(DType::kF32, {8});
  const Literal one = parse_literal(shape, "{...}"), other = parse_literal(shape, "{...}");
  EXPECT_FALSE(one == other);
  EXPECT_TRUE(one == one);
  EXPECT_FALSE(one.is_splat());
}

TEST(Memory, elided_constants_are_filled_on_request) {
  const auto module = parse(entry_with("s32[300] constant({...})"), {.fill_elided_constants = true});
  const Literal& literal = module->entry()->root()->literal();
  EXPECT_FALSE(literal.elided());
  EXPECT_EQ(literal.get_int(5), 5);
  EXPECT_EQ(print(*module), print(*parse(print(*module))));
}

TEST(Memory, filled_matrices_keep_the_size_of_products) {
  const auto module = parse(entry_with("bf16[512,640] constant({...})"), {.fill_elided_constants = true});
  const Literal& matrix = module->entry()->root()->literal();
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < 512; ++i) {
    sum += matrix.get_double(i * 640);
    squares += matrix.get_double(i * 640) * matrix.get_double(i * 640);
  }
  EXPECT_LT(std::abs(sum), 1);
  EXPECT_NEAR(squares, 1, 0.1);
}

TEST(Parse, positions_are_kept_for_messages) {
  const auto module =
      parse("HloModule m\nENTRY e {\n  x = f32[] parameter(0)\n\n    ROOT yy = f32[] negate(x)\n}\n",
            {.file = "a.hlo"});
  EXPECT_EQ(module->entry()->root()->text_line(), 5);
  EXPECT_EQ(module->entry()->root()->place(), "a.hlo:5:10: %yy = negate(%x)");
}

TEST(Parse, nan_payloads_survive) {
  const auto module = parse(entry_with("f32[3] constant({nan(0x1), -nan(0x3ff), -0})"));
  const auto bits = module->entry()->root()->literal().data<uint32_t>();
  EXPECT_EQ(bits[0], 0x7f800001u);
  EXPECT_EQ(bits[1], 0xff8003ffu);
  EXPECT_EQ(bits[2], 0x80000000u);
}

TEST(Parse, a_scalar_for_an_array_sets_the_first_element_as_in_xla) {
  const auto module = parse(entry_with("f32[3] constant(7)"));
  const auto values = module->entry()->root()->literal().data<float>();
  EXPECT_EQ(values[0], 7);
  EXPECT_EQ(values[1], 0);
}

TEST(Parse, frames_lead_to_the_python_line) {
  const auto module = parse(R"(HloModule m

FileNames
1 "train.py"

FunctionNames
1 "loss"

FileLocations
1 {file_name_id=1 function_name_id=1 line=41 end_line=41 column=0 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

ENTRY e {
  ROOT x = f32[] parameter(0), metadata={op_name="jit(f)/x" stack_frame_id=1}
}
)");
  EXPECT_EQ(module->entry()->root()->python_place(), "from train.py:41 in loss (jit(f)/x)");
}

TEST(Parse, a_single_instruction_becomes_a_module) {
  const auto module = parse("f32[2] add(f32[2] x, f32[2])");
  EXPECT_EQ(module->entry()->parameters().size(), 2u);
  EXPECT_EQ(module->entry()->parameter(0)->name(), "x");
  EXPECT_TRUE(module->entry()->root()->is(Op::add));
}

TEST(Parse, async_sugar_wraps_the_op) {
  const auto module = parse(R"(HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  s = ((f32[4]), f32[4], s32[]) negate-start(x), async_execution_thread="side"
  ROOT d = f32[4] negate-done(s)
}
)");
  const Instruction* start = module->entry()->root()->operand(0);
  ASSERT_TRUE(start->is(Op::async_start));
  ASSERT_EQ(start->callees().size(), 1u);
  EXPECT_TRUE(start->callees()[0]->root()->is(Op::negate));
  EXPECT_EQ(start->callees()[0]->execution_thread, "side");
}

TEST(Parse, shapes_and_literals_stand_alone) {
  EXPECT_EQ(to_string(parse_shape("(f32[2,<=8]{1,0:T(8,128)}, s32[])"), true),
            "(f32[2,<=8]{1,0:T(8,128)}, s32[])");
  EXPECT_EQ(to_string(parse_literal(parse_shape("s32[2]"), "{1, 2}")), "{1, 2}");
  EXPECT_THROW(parse_shape("f32[2] x"), Error);
  EXPECT_THROW(parse_literal(parse_shape("s32[2]"), "{1, 2} 3"), Error);
}

TEST(Parse, names_that_are_taken_in_another_computation_get_a_number) {
  const auto module = parse(
      "HloModule m\nf { ROOT x = f32[] parameter(0) }\nENTRY e { x = f32[] parameter(0)\n ROOT y = f32[] "
      "call(x), to_apply=f }\n");
  EXPECT_EQ(module->entry()->parameter(0)->name(), "x.1");
  EXPECT_EQ(module->unique_name("x"), "x.2");
}

}  // namespace
}  // namespace armillary
