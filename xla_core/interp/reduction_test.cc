#include "xla_core/interp/testing.h"

namespace armillary {
namespace {

const std::string kAdd = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n";
const std::string kMax =
    "max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }\n";
const std::string kGe =
    "ge { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=GE }\n";

TEST(Reduce, takes_the_initial_value_once) {
  EXPECT_EQ(run_text(kAdd + "ENTRY e { x = f32[2,3] parameter(0) z = f32[] constant(100) ROOT r = f32[2] "
                            "reduce(x, z), dimensions={1}, to_apply=add }",
                     {"{ {1, 2, 3}, {4, 5, 6} }"}),
            "{106, 115}");
  EXPECT_EQ(run_text(kAdd + "ENTRY e { x = f32[2,0] parameter(0) z = f32[] constant(100) ROOT r = f32[2] "
                            "reduce(x, z), dimensions={1}, to_apply=add }",
                     {"{ { }, { } }"}),
            "{100, 100}");
}

TEST(Reduce, several_arrays_at_once_find_the_first_maximum) {
  EXPECT_EQ(run_text(R"(
    argmax { v = f32[] parameter(0) i = s32[] parameter(1) w = f32[] parameter(2) j = s32[] parameter(3)
      g = pred[] compare(v, w), direction=GE rv = f32[] select(g, v, w) ri = s32[] select(g, i, j) ROOT t = (f32[], s32[]) tuple(rv, ri) }
    ENTRY e { x = f32[5] parameter(0) i = s32[5] iota(), iota_dimension=0 low = f32[] constant(-inf) zero = s32[] constant(0)
      ROOT r = (f32[], s32[]) reduce(x, i, low, zero), dimensions={0}, to_apply=argmax })",
                     {"{1, 7, 3, 7, 2}"}),
            "( 7, 1 )");
}

TEST(ReduceWindow, padding_and_holes_contribute_nothing) {
  EXPECT_EQ(run_text(kAdd + R"(ENTRY e { x = f32[4] parameter(0) z = f32[] constant(0)
      ROOT r = f32[4] reduce-window(x, z), window={size=4 pad=3_0}, to_apply=add })",
                     {"{1, 2, 3, 4}"}),
            "{1, 3, 6, 10}");
  EXPECT_EQ(run_text(kAdd + R"(ENTRY e { x = f32[3] parameter(0) z = f32[] constant(0)
      ROOT r = f32[3] reduce-window(x, z), window={size=2 lhs_dilate=2 rhs_dilate=2}, to_apply=add })",
                     {"{1, 2, 3}"}),
            "{3, 0, 5}");
  EXPECT_EQ(run_text(kMax + R"(ENTRY e { x = f32[2,4] parameter(0) z = f32[] constant(-inf)
      ROOT r = f32[1,2] reduce-window(x, z), window={size=2x2 stride=2x2}, to_apply=max })",
                     {"{ {1, 2, 3, 4}, {5, 0, 9, 1} }"}),
            "{ { 5, 9 } }");
}

TEST(SelectAndScatter, the_selected_element_of_each_window_takes_the_source) {
  EXPECT_EQ(run_text(kGe + kAdd +
                         R"(ENTRY e { x = f32[4] parameter(0) s = f32[3] parameter(1) z = f32[] constant(0.5)
      ROOT r = f32[4] select-and-scatter(x, s, z), window={size=2}, select=ge, scatter=add })",
                     {"{1, 9, 9, 3}", "{10, 20, 30}"}),
            "{0.5, 30.5, 30.5, 0.5}");
}

TEST(Sort, is_stable_and_carries_other_arrays_along) {
  EXPECT_EQ(run_text(R"(
    less { a = s32[] parameter(0) b = s32[] parameter(1) x = f32[] parameter(2) y = f32[] parameter(3) ROOT r = pred[] compare(a, b), direction=LT }
    ENTRY e { k = s32[5] parameter(0) v = f32[5] parameter(1) ROOT r = (s32[5], f32[5]) sort(k, v), dimensions={0}, is_stable=true, to_apply=less })",
                     {"{3, 1, 2, 1, 3}", "{1, 2, 3, 4, 5}"}),
            "( {1, 1, 2, 3, 3}, {2, 4, 3, 1, 5} )");
  EXPECT_EQ(run_text(R"(
    greater { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = pred[] compare(a, b), direction=GT }
    ENTRY e { k = s32[3,2] parameter(0) ROOT r = s32[3,2] sort(k), dimensions={0}, to_apply=greater })",
                     {"{ {1, 6}, {3, 4}, {2, 5} }"}),
            "{ { 3, 6 }, { 2, 5 }, { 1, 4 } }");
}

TEST(Sort, survives_a_comparator_that_contradicts_itself) {
  EXPECT_EQ(run_text(R"(
    always { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = pred[] constant(true) }
    ENTRY e { k = s32[40] iota(), iota_dimension=0 s = s32[40] sort(k), dimensions={0}, to_apply=always
      ROOT r = s32[1] slice(s), slice={[0:1]} })")
                .size(),
            4u);
}

TEST(TopK, nan_is_the_largest_and_ties_keep_their_order) {
  EXPECT_EQ(
      run_text("ENTRY e { x = f32[5] parameter(0) ROOT t = (f32[3], s32[3]) topk(x), k=3, largest=true }",
               {"{1, 7, nan, 7, 2}"}),
      "( {nan, 7, 7}, {2, 1, 3} )");
}

TEST(TopK, is_also_known_as_a_custom_call) {
  EXPECT_EQ(run_text(R"(ENTRY e { x = s32[2,3] parameter(0)
      ROOT t = (s32[2,1], s32[2,1]) custom-call(x), custom_call_target="TopK" })",
                     {"{ {1, 3, 2}, {9, 8, 9} }"}),
            "( { { 3 }, { 9 } }, { { 1 }, { 0 } } )");
}

TEST(Scan, carries_values_from_slice_to_slice) {
  EXPECT_EQ(run_text(R"(
    step { x = f32[] parameter(0) c = f32[] parameter(1) s = f32[] add(x, c) ROOT t = (f32[], f32[]) tuple(s, s) }
    ENTRY e { x = f32[3] parameter(0) z = f32[] constant(10) ROOT r = (f32[3], f32[]) scan(x, z), dimensions={0}, num_carries=1, to_apply=step })",
                     {"{1, 2, 3}"}),
            "( {11, 13, 16}, 16 )");
}

TEST(Scatter, adds_windows_and_drops_those_out_of_range) {
  const std::string add = "add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] add(a, b) }\n";
  EXPECT_EQ(
      run_text(
          add + R"(ENTRY e { x = s32[3,2] parameter(0) i = s32[4,1] parameter(1) u = s32[4,2] parameter(2)
      ROOT r = s32[3,2] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add })",
          {"{ {0, 0}, {0, 0}, {0, 0} }", "{ {1}, {1}, {3}, {-1} }", "{ {1, 2}, {10, 20}, {5, 5}, {7, 7} }"}),
      "{ { 0, 0 }, { 11, 22 }, { 0, 0 } }");
  // A window that only begins inside is dropped as a whole.
  EXPECT_EQ(
      run_text(add + R"(ENTRY e { x = s32[4] parameter(0) i = s32[2,1] parameter(1) u = s32[2,2] parameter(2)
      ROOT r = s32[4] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add })",
               {"{0, 0, 0, 0}", "{ {2}, {3} }", "{ {1, 2}, {10, 20} }"}),
      "{0, 0, 1, 2}");
}

TEST(Scatter, batching_dims_pair_operand_and_indices) {
  EXPECT_EQ(run_text(R"(
    take { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] copy(b) }
    ENTRY e { x = s32[2,3] parameter(0) i = s32[2,1,1] parameter(1) u = s32[2,1] parameter(2)
      ROOT r = s32[2,3] scatter(x, i, u), update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, input_batching_dims={0},
        scatter_indices_batching_dims={0}, index_vector_dim=2, to_apply=take })",
                     {"{ {0, 0, 0}, {0, 0, 0} }", "{ { {2} }, { {0} } }", "{ {5}, {6} }"}),
            "{ { 0, 0, 5 }, { 6, 0, 0 } }");
}

TEST(Gather, clamps_its_start_indices) {
  EXPECT_EQ(run_text(R"(ENTRY e { x = s32[4] parameter(0) i = s32[3,1] parameter(1)
      ROOT r = s32[3,2] gather(x, i), offset_dims={1}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=1, slice_sizes={2} })",
                     {"{1, 2, 3, 4}", "{ {1}, {9}, {-3} }"}),
            "{ { 2, 3 }, { 3, 4 }, { 1, 2 } }");
}

// 256 + 1 is 256 in bf16: the sums show that the reducer's own type is used.
TEST(MixedPrecision, a_reducer_computes_in_its_own_type) {
  EXPECT_EQ(run_text(kAdd + "ENTRY e { x = bf16[3] parameter(0) z = bf16[] constant(0) ROOT r = bf16[] "
                            "reduce(x, z), dimensions={0}, to_apply=add }",
                     {"{256, 1, 1}"}),
            "258");
  EXPECT_EQ(run_text(kAdd + "ENTRY e { x = f32[3] parameter(0) z = f32[] constant(0) ROOT r = f16[] "
                            "reduce(x, z), dimensions={0}, to_apply=add }",
                     {"{64, 0.03125, 0.03125}"}),
            "64.06");
  EXPECT_EQ(run_text(kAdd + "ENTRY e { x = bf16[4] parameter(0) z = f32[] constant(0) ROOT r = f32[2] "
                            "reduce-window(x, z), window={size=3}, to_apply=add }",
                     {"{256, 1, 1, 1}"}),
            "{258, 3}");
  EXPECT_EQ(
      run_text(kAdd + "ENTRY e { x = bf16[2] parameter(0) i = s32[2,1] parameter(1) u = bf16[2] parameter(2) "
                      "ROOT r = bf16[2] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, "
                      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add }",
               {"{256, 5}", "{ {0}, {0} }", "{1, 1}"}),
      "{258, 5}");
  EXPECT_EQ(
      run_text("half { a = f32[] parameter(0) h = f32[] constant(0.5) ROOT r = f32[] multiply(a, h) }\n"
               "ENTRY e { x = f16[2] parameter(0) ROOT r = f16[2] map(x), dimensions={0}, to_apply=half }",
               {"{3, 5}"}),
      "{1.5, 2.5}");
}

TEST(MixedPrecision, several_results_are_converted_one_by_one) {
  EXPECT_EQ(run_text(R"(
    both { a = f32[] parameter(0) b = f32[] parameter(1) x = f32[] parameter(2) y = f32[] parameter(3)
      s = f32[] add(a, x) m = f32[] maximum(b, y) ROOT t = (f32[], f32[]) tuple(s, m) }
    ENTRY e { x = bf16[3] parameter(0) z = bf16[] constant(0)
      ROOT r = (f32[], bf16[]) reduce(x, x, z, z), dimensions={0}, to_apply=both })",
                     {"{256, 1, 1}"}),
            "( 258, 256 )");
}

TEST(Reduce, a_single_result_may_stand_in_a_tuple) {
  EXPECT_EQ(run_text(R"(
    add1 { a = f32[] parameter(0) b = f32[] parameter(1) s = f32[] add(a, b) ROOT t = (f32[]) tuple(s) }
    ENTRY e { x = f32[3] parameter(0) z = f32[] constant(0) ROOT r = (f32[]) reduce(x, z), dimensions={0}, to_apply=add1 })",
                     {"{1, 2, 3}"}),
            "( 6 )");
}

}  // namespace
}  // namespace armillary
