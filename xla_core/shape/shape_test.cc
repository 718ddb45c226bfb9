#include "xla_core/shape/shape.h"

#include <gtest/gtest.h>

#include "xla_core/base/error.h"
#include "xla_core/shape/index.h"

namespace armillary {
namespace {

TEST(Shape, text_of_arrays_shows_dims_bounds_and_layout) {
  Shape s(DType::kF32, {2, 8, Shape::kUnbounded});
  s.dynamic = {false, true, false};
  EXPECT_EQ(to_string(s), "f32[2,<=8,?]");
  s = Shape(DType::kBF16, {3, 4});
  s.layout = Layout::row_major(2);
  EXPECT_EQ(to_string(s), "bf16[3,4]");
  EXPECT_EQ(to_string(s, true), "bf16[3,4]{1,0}");
  s = Shape::scalar(DType::kS32);
  s.layout = Layout::row_major(0);
  EXPECT_EQ(to_string(s, true), "s32[]");
}

TEST(Shape, layout_fields_come_in_the_order_of_the_grammar) {
  Layout l = Layout::row_major(2);
  l.tiles = {{8, 128}, {Layout::kCombineDim, 1}};
  l.tail_padding_alignment = 4;
  l.element_bits = 4;
  l.memory_space = 3;
  l.other = "D(D,C)#(u32)*(u8)SC(0:1,2)P(f32[2]{0})M(8)";
  EXPECT_EQ(to_string(l), "{1,0:D(D,C)T(8,128)(*,1)L(4)#(u32)*(u8)E(4)S(3)SC(0:1,2)P(f32[2]{0})M(8)}");
}

TEST(Shape, long_tuples_number_every_fifth_element) {
  std::vector<Shape> six(6, Shape::scalar(DType::kPred));
  EXPECT_EQ(to_string(Shape::make_tuple(six)), "(pred[], pred[], pred[], pred[], pred[], /*index=5*/pred[])");
  EXPECT_EQ(to_string(Shape::make_tuple({})), "()");
  EXPECT_EQ(to_string(Shape::token()), "token[]");
}

TEST(Shape, sizes_count_elements_and_our_bytes) {
  EXPECT_EQ(Shape(DType::kS4, {3, 5}).byte_size(), 15);
  EXPECT_EQ(Shape(DType::kC128, {2}).byte_size(), 32);
  EXPECT_EQ(Shape(DType::kF32, {int64_t{1} << 40, 0, int64_t{1} << 40}).num_elements(), 0);
  EXPECT_THROW(Shape(DType::kF32, {int64_t{1} << 40, int64_t{1} << 40}).num_elements(), Error);
  EXPECT_THROW(Shape(DType::kF32, {Shape::kUnbounded}).num_elements(), Error);
  EXPECT_EQ(
      Shape::make_tuple({Shape(DType::kF32, {2}), Shape::scalar(DType::kPred), Shape::token()}).byte_size(),
      9);
}

TEST(Shape, compatible_ignores_layouts_and_sees_everything_else) {
  Shape a(DType::kF32, {2}), b = a;
  b.layout = Layout::row_major(1);
  EXPECT_TRUE(a.compatible(b));
  EXPECT_FALSE(a == b);
  b.dynamic = {false};
  EXPECT_TRUE(a.compatible(b));
  b.dynamic = {true};
  EXPECT_FALSE(a.compatible(b));
  EXPECT_FALSE(Shape::make_tuple({a}).compatible(Shape::make_tuple({a, a})));
}

TEST(Shape, subshapes_and_leaves_of_nested_tuples) {
  const Shape f(DType::kF32, {2}), p = Shape::scalar(DType::kPred);
  const Shape nested = Shape::make_tuple({f, Shape::make_tuple({p, f})});
  EXPECT_EQ(nested.at(Dims{1, 0}), p);
  EXPECT_THROW(nested.at(Dims{2}), Error);
  EXPECT_EQ(leaves_of(nested).size(), 3u);
}

TEST(Index, walks_in_row_major_order) {
  const Dims dims = {2, 0, 3};
  for_each_index(dims, [](std::span<const int64_t>) { FAIL(); });
  int64_t next = 0;
  const Dims small = {2, 3};
  for_each_index(small, [&](std::span<const int64_t> index) {
    EXPECT_EQ(linear_index(small, index), next);
    Dims back(2);
    delinearize(next, small, back);
    EXPECT_TRUE(std::equal(back.begin(), back.end(), index.begin()));
    ++next;
  });
  EXPECT_EQ(next, 6);
  int scalars = 0;
  for_each_index(Dims{}, [&](std::span<const int64_t>) { ++scalars; });
  EXPECT_EQ(scalars, 1);
  EXPECT_EQ(strides_of(Dims{2, 3, 4}), (Dims{12, 4, 1}));
}

}  // namespace
}  // namespace armillary
