#include "xla_core/interp/testing.h"

namespace armillary {
namespace {

TEST(Interpreter, computes_elementwise_in_the_dtype) {
  EXPECT_EQ(
      run_text(R"(ENTRY e { a = f32[3] parameter(0) b = f32[3] parameter(1) ROOT r = f32[3] add(a, b) })",
               {"{1, 2, 3}", "{0.5, 0.25, inf}"}),
      "{1.5, 2.25, inf}");
  // 2048 + 1 is not a half.
  EXPECT_EQ(run_text(R"(ENTRY e { a = f16[] parameter(0) b = f16[] parameter(1) ROOT r = f16[] add(a, b) })",
                     {"2048", "1"}),
            "2048");
  EXPECT_EQ(run_text(R"(ENTRY e { a = s4[2] parameter(0) ROOT r = s4[2] add(a, a) })", {"{7, -8}"}),
            "{-2, 0}");
}

TEST(Interpreter, integers_divide_and_shift_as_designed) {
  EXPECT_EQ(
      run_text(R"(ENTRY e { a = s32[4] parameter(0) b = s32[4] parameter(1) ROOT r = s32[4] divide(a, b) })",
               {"{7, -7, 5, -2147483648}", "{2, 2, 0, -1}"}),
      "{3, -3, -1, -2147483648}");
  EXPECT_EQ(
      run_text(R"(ENTRY e { a = u8[3] parameter(0) b = u8[3] parameter(1) ROOT r = u8[3] divide(a, b) })",
               {"{7, 200, 5}", "{2, 3, 0}"}),
      "{3, 66, 255}");
  EXPECT_EQ(
      run_text(
          R"(ENTRY e { a = s32[3] parameter(0) b = s32[3] parameter(1) ROOT r = s32[3] remainder(a, b) })",
          {"{7, -7, 5}", "{4, 4, 0}"}),
      "{3, -3, 5}");
  EXPECT_EQ(
      run_text(R"(ENTRY e { a = s8[4] parameter(0) b = s8[4] parameter(1) ROOT r = s8[4] shift-left(a, b) })",
               {"{1, 1, 1, 1}", "{1, 7, 8, -1}"}),
      "{2, -128, 0, 0}");
  EXPECT_EQ(
      run_text(
          R"(ENTRY e { a = s8[3] parameter(0) b = s8[3] parameter(1) ROOT r = s8[3] shift-right-arithmetic(a, b) })",
          {"{-128, -1, 64}", "{1, 100, 100}"}),
      "{-64, -1, 0}");
  EXPECT_EQ(
      run_text(
          R"(ENTRY e { a = s8[2] parameter(0) b = s8[2] parameter(1) ROOT r = s8[2] shift-right-logical(a, b) })",
          {"{-128, -1}", "{1, 8}"}),
      "{64, 0}");
}

TEST(Interpreter, floats_convert_to_integers_by_saturation) {
  EXPECT_EQ(run_text(R"(ENTRY e { a = f32[4] parameter(0) ROOT r = s8[4] convert(a) })",
                     {"{300, -300, nan, -1.9}"}),
            "{127, -128, 0, -1}");
  EXPECT_EQ(
      run_text(R"(ENTRY e { a = f32[3] parameter(0) ROOT r = u32[3] convert(a) })", {"{-1, 1e20, 3.7}"}),
      "{0, 4294967295, 3}");
  // 2^60 + 2^52 + 1 lies above the middle of two bf16 numbers: rounding over a double in between would lose
  // the 1.
  EXPECT_EQ(
      run_text(R"(ENTRY e { a = s64[] parameter(0) ROOT r = bf16[] convert(a) })", {"1157425104234217473"}),
      "1.16e+18");
}

TEST(Interpreter, nan_wins_in_minimum_and_maximum) {
  EXPECT_EQ(
      run_text(R"(ENTRY e { a = f32[3] parameter(0) b = f32[3] parameter(1) ROOT r = f32[3] maximum(a, b) })",
               {"{nan, 1, -0}", "{1, nan, 0}"}),
      "{nan, nan, 0}");
}

TEST(Interpreter, moving_data_keeps_every_bit) {
  EXPECT_EQ(run_text(R"(ENTRY e { a = f32[2] parameter(0) ROOT r = f32[2] reverse(a), dimensions={0} })",
                     {"{nan(0x1), -nan(0x3)}"}),
            "{-nan(0x3), nan(0x1)}");
  EXPECT_EQ(run_text(R"(ENTRY e { a = f32[] parameter(0) ROOT r = u32[] bitcast-convert(a) })", {"nan(0x1)"}),
            "2139095041");
  EXPECT_EQ(run_text(R"(ENTRY e { a = f32[2,3]{0,1} parameter(0) ROOT r = f32[3,2]{1,0} bitcast(a) })",
                     {"{ {1, 2, 3}, {4, 5, 6} }"}),
            "{ { 1, 4 }, { 2, 5 }, { 3, 6 } }");
}

TEST(Interpreter, dynamic_update_slice_clamps_its_start) {
  constexpr auto hlo =
      R"(ENTRY e { a = s32[2,4] parameter(0) u = s32[1,2] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3)
    ROOT r = s32[2,4] dynamic-update-slice(a, u, i, j) })";
  EXPECT_EQ(run_text(hlo, {"{ {1,2,3,4}, {5,6,7,8} }", "{ {0,9} }", "-5", "7"}),
            "{ { 1, 2, 0, 9 }, { 5, 6, 7, 8 } }");
}

TEST(Interpreter, while_runs_until_its_condition_is_false) {
  EXPECT_EQ(run_text(R"(
    body { p = (s32[], f32[]) parameter(0) i = s32[] get-tuple-element(p), index=0 x = f32[] get-tuple-element(p), index=1
      one = s32[] constant(1) next = s32[] add(i, one) twice = f32[] add(x, x) ROOT t = (s32[], f32[]) tuple(next, twice) }
    condition { p = (s32[], f32[]) parameter(0) i = s32[] get-tuple-element(p), index=0 n = s32[] constant(10) ROOT c = pred[] compare(i, n), direction=LT }
    ENTRY e { x = f32[] parameter(0) zero = s32[] constant(0) t = (s32[], f32[]) tuple(zero, x)
      ROOT w = (s32[], f32[]) while(t), condition=condition, body=body })",
                     {"1.5"}),
            "( 10, 1536 )");
}

TEST(Interpreter, conditional_takes_the_last_branch_for_an_index_out_of_range) {
  constexpr auto hlo = R"(
    a { x = s32[] parameter(0) ROOT r = s32[] negate(x) }
    b { x = s32[] parameter(0) ROOT r = s32[] add(x, x) }
    ENTRY e { i = s32[] parameter(0) x = s32[] parameter(1) ROOT c = s32[] conditional(i, x, x), branch_computations={a, b} })";
  EXPECT_EQ(run_text(hlo, {"0", "3"}), "-3");
  EXPECT_EQ(run_text(hlo, {"1", "3"}), "6");
  EXPECT_EQ(run_text(hlo, {"-1", "3"}), "6");
  EXPECT_EQ(run_text(hlo, {"7", "3"}), "6");
}

TEST(Interpreter, map_runs_bodies_that_no_tape_can_hold) {
  EXPECT_EQ(run_text(R"(
    yes { x = s32[] parameter(0) ROOT r = s32[] negate(x) }
    no { x = s32[] parameter(0) ROOT r = s32[] add(x, x) }
    f { x = s32[] parameter(0) z = s32[] constant(0) p = pred[] compare(x, z), direction=GT
      ROOT r = s32[] conditional(p, x, x), true_computation=yes, false_computation=no }
    ENTRY e { x = s32[3] parameter(0) ROOT m = s32[3] map(x), dimensions={0}, to_apply=f })",
                     {"{3, -4, 5}"}),
            "{-3, -8, -5}");
}

TEST(Interpreter, async_work_is_done_at_the_start) {
  EXPECT_EQ(run_text(R"(
    w { x = s32[] parameter(0) ROOT r = s32[] negate(x) }
    ENTRY e { x = s32[] parameter(0) s = ((s32[]), s32[], u32[]) async-start(x), calls=w
      u = ((s32[]), s32[], u32[]) async-update(s) ROOT d = s32[] async-done(u) })",
                     {"3"}),
            "-3");
}

TEST(Interpreter, async_work_waits_for_operands_that_updates_bind) {
  EXPECT_EQ(run_text(R"(
    w { x = s32[] parameter(0) y = s32[] parameter(1) z = s32[] parameter(2)
      d = s32[] subtract(x, y) ROOT r = s32[] multiply(d, z) }
    ENTRY e { x = s32[] parameter(0) y = s32[] constant(2) z = s32[] constant(10)
      s = ((), (), u32[]) async-start(), calls=w
      u = ((s32[]), (), u32[]) async-update(s, x)
      v = ((s32[], s32[], s32[]), s32[], u32[]) async-update(u, y, z) ROOT d = s32[] async-done(v) })",
                     {"7"}),
            "50");
}

TEST(Interpreter, dead_instructions_that_cannot_run_do_not_matter) {
  EXPECT_EQ(run_text(R"(
    add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] add(a, b) }
    ENTRY e { x = s32[] parameter(0) dead = s32[] all-reduce(x), to_apply=add ROOT r = s32[] negate(x) })",
                     {"3"}),
            "-3");
}

TEST(Interpreter, what_cannot_run_says_so_with_its_place) {
  const std::string error = error_of(R"(
    add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] add(a, b) }
    ENTRY e { x = s32[] parameter(0) ROOT sum = s32[] all-reduce(x), to_apply=add })",
                                     {"3"});
  EXPECT_NE(error.find("sum"), std::string::npos) << error;
  EXPECT_NE(error.find("unsupported: all-reduce"), std::string::npos) << error;
}

TEST(Interpreter, dynamic_dimensions_are_taken_at_their_bounds) {
  const auto module = parse(
      "ENTRY e { x = (s32[<=2], s32[1]) parameter(0) a = s32[<=2] get-tuple-element(x), index=0 "
      "ROOT r = s32[<=2] negate(a) }");
  const Shape pair(DType::kS32, {2}), one(DType::kS32, {1});
  const Literal argument = Literal::make_tuple({parse_literal(pair, "{1, 2}"), parse_literal(one, "{3}")});
  EXPECT_EQ(evaluate(*module, {&argument, 1}).get_int(1), -2);
}

TEST(Interpreter, only_a_partitioner_can_cut_an_array) {
  const std::string error = error_of(
      R"(ENTRY e { x = s32[4] parameter(0)
       ROOT part = s32[2] custom-call(x), custom_call_target="SPMDFullToShardShape" })",
      {"{1, 2, 3, 4}"});
  EXPECT_NE(error.find("part"), std::string::npos) << error;
  EXPECT_NE(error.find("makes s32[2] of s32[4] without a partitioner"), std::string::npos) << error;
}

TEST(Interpreter, arguments_must_fit_the_parameters) {
  const auto module = parse("ENTRY e { x = s32[2] parameter(0) ROOT r = s32[2] negate(x) }");
  EXPECT_THROW(evaluate(*module, {}), Error);
  const Literal wrong(Shape(DType::kS32, {3}));
  EXPECT_THROW(evaluate(*module, {&wrong, 1}), Error);
}

TEST(Interpreter, arguments_stay_as_they_are) {
  const auto module = parse(
      "ENTRY e { x = s32[2] parameter(0) u = s32[1] parameter(1) i = s32[] constant(1) ROOT r = s32[2] "
      "dynamic-update-slice(x, u, i) }");
  const Literal args[] = {Literal(Shape(DType::kS32, {2})),
                          Literal::array<int>(DType::kS32, {1}, std::vector<int>{5})};
  EXPECT_EQ(to_string(evaluate(*module, args)), "{0, 5}");
  EXPECT_EQ(to_string(args[0]), "{0, 0}");
}

TEST(Interpreter, too_many_calls_inside_each_other_are_an_error) {
  std::string hlo = "c0 { x = s32[] parameter(0) ROOT r = s32[] negate(x) }\n";
  for (int i = 1; i < 800; ++i)
    hlo += fmt::format("c{} {{ x = s32[] parameter(0) ROOT r = s32[] call(x), to_apply=c{} }}\n", i, i - 1);
  hlo += "ENTRY e { x = s32[] parameter(0) ROOT r = s32[] call(x), to_apply=c799 }";
  EXPECT_NE(error_of(hlo, {"1"}).find("other computations"), std::string::npos);
}

}  // namespace
}  // namespace armillary
