#include "xla_core/shape/literal.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "xla_core/base/error.h"

namespace armillary {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

Literal doubles(DType dtype, Dims dims, std::vector<double> values) {
  return Literal::array<double>(dtype, std::move(dims), values);
}

TEST(Floats, bits_and_values_of_the_named_formats) {
  struct Row {
    DType dtype;
    double value;
    uint64_t bits;
  };
  const Row rows[] = {
      {DType::kF16, 1.0, 0x3c00},         {DType::kF16, 65504, 0x7bff},
      {DType::kF16, -0.0, 0x8000},        {DType::kF16, 0x1p-24, 0x0001},
      {DType::kF16, kInf, 0x7c00},        {DType::kBF16, 1.0, 0x3f80},
      {DType::kBF16, 0x1.fep127, 0x7f7f}, {DType::kBF16, 0x1p-133, 0x0001},
      {DType::kF8E5M2, 57344, 0x7b},      {DType::kF8E4M3, 240, 0x77},
      {DType::kF8E4M3FN, 448, 0x7e},      {DType::kF8E4M3FN, 0x1p-9, 0x01},
      {DType::kF8E4M3B11FNUZ, 30, 0x7f},  {DType::kF8E5M2FNUZ, 57344, 0x7f},
      {DType::kF8E4M3FNUZ, 240, 0x7f},    {DType::kF8E3M4, 15.5, 0x6f},
      {DType::kF8E8M0FNU, 1.0, 0x7f},     {DType::kF8E8M0FNU, 0x1p-127, 0x00},
      {DType::kF4E2M1FN, 6, 0x7},         {DType::kF4E2M1FN, 0.5, 0x1},
      {DType::kF4E2M1FN, -0.0, 0x8},
  };
  for (const Row& r : rows) {
    EXPECT_EQ(encode_float(r.dtype, r.value), r.bits) << to_string(r.dtype) << " " << r.value;
    EXPECT_EQ(decode_float(r.dtype, r.bits), r.value) << to_string(r.dtype) << " " << r.value;
  }
}

TEST(Floats, rounding_is_half_to_even_and_once) {
  EXPECT_EQ(encode_float(DType::kBF16, 1 + 0x1p-8), 0x3f80u);  // tie, even below
  EXPECT_EQ(encode_float(DType::kBF16, 1 + 0x3p-8), 0x3f82u);  // tie, even above
  EXPECT_EQ(encode_float(DType::kBF16, 1 + 0x1p-8 + 0x1p-40),
            0x3f81u);  // a float in between would lose the last bit
  EXPECT_EQ(encode_float(DType::kF16, 0x1p-25), 0u);
  EXPECT_EQ(encode_float(DType::kF16, 0x1p-25 * 1.0001), 1u);
  EXPECT_EQ(encode_float(DType::kF16, 65519.9), 0x7bffu);
  EXPECT_EQ(encode_float(DType::kF16, 65520), 0x7c00u);
}

TEST(Floats, overflow_and_nan_follow_the_style_of_the_format) {
  EXPECT_EQ(encode_float(DType::kF8E5M2, 1e9), 0x7cu);
  EXPECT_EQ(encode_float(DType::kF8E4M3FN, -1e9), 0xffu);
  EXPECT_EQ(encode_float(DType::kF8E4M3FNUZ, 1e9), 0x80u);
  EXPECT_EQ(encode_float(DType::kF8E4M3FNUZ, -0.0), 0x00u);
  EXPECT_EQ(encode_float(DType::kF8E8M0FNU, -1), 0xffu);
  EXPECT_EQ(encode_float(DType::kF4E2M1FN, -kInf), 0xfu);
  EXPECT_EQ(encode_float(DType::kF16, kNan), 0x7e00u);
  EXPECT_EQ(encode_float(DType::kBF16, -kNan), 0xffc0u);
  EXPECT_TRUE(std::isnan(decode_float(DType::kF8E4M3FN, 0x7f)));
  EXPECT_TRUE(std::isnan(decode_float(DType::kF8E5M2FNUZ, 0x80)));
}

// decode then encode is the identity on bits, NaN payloads included, except where a format has several names
// for one NaN.
TEST(Floats, every_encoding_survives_a_round_trip) {
  for (int t = static_cast<int>(DType::kF4E2M1FN); t <= static_cast<int>(DType::kBF16); ++t) {
    const DType dtype = static_cast<DType>(t);
    for (uint64_t bits = 0; bits < uint64_t{1} << bit_width(dtype); ++bits)
      ASSERT_EQ(encode_float(dtype, decode_float(dtype, bits)), bits) << to_string(dtype) << " " << bits;
  }
}

TEST(Literal, integers_wrap_and_doubles_saturate) {
  Literal s4(Shape(DType::kS4, {2}));
  s4.set_int(0, 9);
  s4.set_double(1, 100);
  EXPECT_EQ(s4.get_int(0), -7);
  EXPECT_EQ(s4.get_int(1), 7);
  Literal s32(Shape(DType::kS32, {3}));
  s32.set_double(0, 3e9);
  s32.set_double(1, kNan);
  s32.set_double(2, -2.9);
  EXPECT_EQ(to_string(s32), "{2147483647, 0, -2}");
  Literal u64(Shape::scalar(DType::kU64));
  u64.set_double(0, 1e30);
  EXPECT_EQ(to_string(u64), "18446744073709551615");
  u64.set_double(0, -5);
  EXPECT_EQ(u64.get_int(0), 0);
}

TEST(Literal, text_of_numbers_is_the_shortest_that_reads_back) {
  EXPECT_EQ(to_string(doubles(DType::kF32, {6}, {0.1, 1, 1e10, -0.0, 16777216, 1e-45})),
            "{0.1, 1, 1e+10, -0, 1.6777216e+07, 1e-45}");
  EXPECT_EQ(to_string(doubles(DType::kBF16, {}, {0x1.fep127})), "3.39e+38");
  EXPECT_EQ(to_string(doubles(DType::kF16, {2}, {65504, 0.1})), "{6.55e+04, 0.1}");
  EXPECT_EQ(to_string(doubles(DType::kF8E4M3FN, {2}, {448, 0.4375})), "{4.5e+02, 0.44}");
  EXPECT_EQ(to_string(doubles(DType::kF32, {4}, {kInf, -kInf, kNan, -kNan})), "{inf, -inf, nan, -nan}");
}

TEST(Literal, text_shows_nan_payloads_that_are_not_the_default) {
  Literal f32(Shape::scalar(DType::kF32));
  f32.data<uint32_t>()[0] = 0xff800001;
  EXPECT_EQ(to_string(f32), "-nan(0x1)");
  Literal f16(Shape::scalar(DType::kF16));
  f16.data<uint16_t>()[0] = 0x7fff;
  EXPECT_EQ(to_string(f16), "nan(0x3ff)");
}

TEST(Literal, text_nests_braces_by_dimension) {
  EXPECT_EQ(to_string(doubles(DType::kS32, {2, 2}, {1, 2, 3, 4})), "{ { 1, 2 }, { 3, 4 } }");
  EXPECT_EQ(to_string(doubles(DType::kS32, {3}, {1, 2, 3})), "{1, 2, 3}");
  EXPECT_EQ(to_string(doubles(DType::kPred, {2}, {1, 0})), "{true, false}");
  EXPECT_EQ(to_string(doubles(DType::kF32, {2, 0, 4, 3}, {})), "{ { }, { } }");
  EXPECT_EQ(to_string(doubles(DType::kF32, {0}, {})), "{}");
  EXPECT_EQ(to_string(Literal::scalar<std::complex<double>>(DType::kC64, {1.5, -2})), "(1.5, -2)");
  EXPECT_EQ(to_string(Literal::make_tuple({doubles(DType::kF32, {}, {1}), doubles(DType::kS8, {1}, {2})})),
            "( 1, {2} )");
}

TEST(Literal, equality_is_of_bits_and_ignores_layouts) {
  Literal a = doubles(DType::kF32, {2}, {1, kNan}), b = a.clone();
  EXPECT_EQ(a, b);
  Shape laid_out = b.shape();
  laid_out.layout = Layout::row_major(1);
  EXPECT_EQ(a, b.reshaped(laid_out));
  b.set_double(0, 2);
  EXPECT_FALSE(a == b);
  EXPECT_EQ(a.get_double(0), 1);
  EXPECT_FALSE(doubles(DType::kF32, {}, {0.0}) == doubles(DType::kF32, {}, {-0.0}));
}

TEST(Literal, splats_are_found_by_bits) {
  EXPECT_TRUE(doubles(DType::kF32, {3}, {2, 2, 2}).is_splat());
  EXPECT_FALSE(doubles(DType::kF32, {2}, {0.0, -0.0}).is_splat());
  EXPECT_FALSE(doubles(DType::kF32, {0}, {}).is_splat());
  EXPECT_TRUE(doubles(DType::kF32, {}, {7}).is_splat());
}

TEST(Literal, larger_than_the_machine_is_an_error_and_no_crash) {
  try {
    Literal(Shape(DType::kF32, {int64_t{1} << 44}));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kResource);
  }
}

TEST(Literal, a_wrong_number_of_values_is_a_user_error) {
  EXPECT_THROW(doubles(DType::kF32, {3}, {1, 2}), Error);
}

}  // namespace
}  // namespace armillary
