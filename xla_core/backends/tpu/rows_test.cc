#include "xla_core/backends/tpu/rows.h"

#include <gtest/gtest.h>

#include "xla_core/hlo/text.h"

namespace armillary::tpu {
namespace {

// Of the root, when operand `k` comes in 64 rows.
Flow flow(const std::string& body, int64_t k = 0) {
  const auto m = parse(
      "HloModule m\nadd { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n" +
      ("ENTRY e {" + body) + " }");
  const Instruction& root = *m->entry()->root();
  std::vector<Flow> operands(root.num_operands(), Flow::kNothing);
  operands.at(k) = Flow::kRows;
  return flows_of(root, operands, 64).leaves.at(0);
}

const std::string kX = "x = f32[64,128] parameter(0)  ", kS = "s = f32[64,64] parameter(0)  ";

TEST(Rows, are_the_leading_dimensions) {
  EXPECT_EQ(row_dims({4, 16, 128}, 64), 2u);
  EXPECT_EQ(row_dims({64}, 64), 1u);
  EXPECT_EQ(row_dims({128, 64}, 64), 0u);
  EXPECT_EQ(row_dims({3, 64}, 64), 0u);
}

TEST(Rows, stay_rows_where_nothing_else_is_read) {
  EXPECT_EQ(flow(kX + "ROOT y = f32[64,128] tanh(x)"), Flow::kRows);
  EXPECT_EQ(flow(kX + "ROOT y = f32[4,16,128] reshape(x)"), Flow::kRows);
  EXPECT_EQ(flow(kX + "ROOT y = f32[64,8] slice(x), slice={[0:64], [8:16]}"), Flow::kRows);
  EXPECT_EQ(flow(kX + "z = f32[] constant(0)  ROOT y = f32[64] reduce(x, z), dimensions={1}, to_apply=add"),
            Flow::kRows);
  EXPECT_EQ(flow("x = f32[64] parameter(0)  ROOT y = f32[64,8] broadcast(x), dimensions={0}"), Flow::kRows);
}

TEST(Rows, that_are_summed_are_there_at_the_end) {
  EXPECT_EQ(flow(kX + "z = f32[] constant(0)  ROOT y = f32[128] reduce(x, z), dimensions={0}, to_apply=add"),
            Flow::kSum);
}

TEST(Rows, that_become_something_else_are_mixed) {
  EXPECT_EQ(flow(kX + "ROOT y = f32[128,64] transpose(x), dimensions={1,0}"), Flow::kMixed);
  EXPECT_EQ(flow("x = f32[64] parameter(0)  ROOT y = f32[64,64] broadcast(x), dimensions={1}"), Flow::kMixed);
  EXPECT_EQ(flow(kX + "ROOT y = f32[32,128] slice(x), slice={[0:32], [0:128]}"), Flow::kMixed);
  EXPECT_EQ(flow(kX + "ROOT y = f32[64,128] reverse(x), dimensions={0}"), Flow::kMixed);
}

TEST(Rows, of_a_product_are_those_of_the_left_operand) {
  const std::string w = kX + "w = f32[128,64] parameter(1)  ";
  const std::string dot = "ROOT d = f32[64,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
  EXPECT_EQ(flow(w + dot, 0), Flow::kRows);
  EXPECT_EQ(
      flow(kS + "w = f32[64,128] parameter(1)  ROOT d = f32[64,128] dot(s, w), lhs_contracting_dims={1}, "
                "rhs_contracting_dims={0}",
           1),
      Flow::kSum);
  // Of the right one they are columns.
  EXPECT_EQ(
      flow(kX + "w = f32[64,128] parameter(1)  ROOT d = f32[64,64] dot(x, w), lhs_contracting_dims={1}, "
                "rhs_contracting_dims={1}",
           1),
      Flow::kMixed);
  EXPECT_EQ(
      flow("x = f32[64,8,16] parameter(0)  w = f32[64,16,8] parameter(1)  ROOT d = f32[64,8,8] dot(x, w), "
           "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
           1),
      Flow::kRows);
}

TEST(Rows, both_summed_and_passed_on_are_mixed) {
  const auto m = parse(
      "HloModule m\nENTRY e { s = f32[64,64] parameter(0) ROOT d = f32[64,64] dot(s, s), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={0} }");
  EXPECT_EQ(flows_of(*m->entry()->root(), std::vector{Flow::kRows, Flow::kRows}, 64).leaves[0], Flow::kMixed);
}

}  // namespace
}  // namespace armillary::tpu
