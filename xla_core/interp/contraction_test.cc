#include "xla_core/interp/testing.h"

namespace armillary {
namespace {

TEST(Dot, contracts_batches_and_keeps_the_dtype_asked_for) {
  EXPECT_EQ(run_text(R"(ENTRY e { a = s8[1,2,2] parameter(0) b = s8[1,2,2] parameter(1)
    ROOT r = s32[1,2,2] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1} })",
                     {"{ { {100, 100}, {1, 2} } }", "{ { {100, 1}, {100, -1} } }"}),
            "{ { { 20000, 0 }, { 300, -1 } } }");
  // 256 + 1 - 256 needs more than the eight bits of a bf16.
  EXPECT_EQ(run_text(R"(ENTRY e { a = bf16[3] parameter(0) b = bf16[3] parameter(1)
    ROOT r = bf16[] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0} })",
                     {"{256, 1, -256}", "{1, 1, 1}"}),
            "1");
}

TEST(Dot, of_complex_numbers_does_not_conjugate) {
  EXPECT_EQ(run_text(R"(ENTRY e { a = c64[2] parameter(0) b = c64[2] parameter(1)
    ROOT r = c64[] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0} })",
                     {"{(0, 1), (2, 0)}", "{(0, 1), (1, 1)}"}),
            "(1, 2)");
}

TEST(Dot, ragged_rows_meet_the_matrix_of_their_group) {
  EXPECT_EQ(
      run_text(R"(ENTRY e { a = f32[3,1] parameter(0) b = f32[2,1,1] parameter(1) n = s32[2] parameter(2)
    ROOT r = f32[3,1] ragged-dot(a, b, n), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0} })",
               {"{ {1}, {2}, {3} }", "{ { {10} }, { {100} } }", "{1, 2}"}),
      "{ { 10 }, { 200 }, { 300 } }");
}

// Input 1 2 3 4, kernel 1 10 100.
constexpr auto kLine = R"(ENTRY e {{ a = f32[1,1,4] parameter(0) k = f32[1,1,3] parameter(1)
    ROOT r = f32[1,1,{}] convolution(a, k), window={{{}}}, dim_labels=bf0_oi0->bf0 }})";

std::string convolve(int size, const std::string& window) {
  return run_text(fmt::format(fmt::runtime(kLine), size, window),
                  {"{ { {1, 2, 3, 4} } }", "{ { {1, 10, 100} } }"});
}

TEST(Convolution, obeys_every_part_of_the_window) {
  EXPECT_EQ(convolve(2, "size=3"), "{ { { 321, 432 } } }");
  EXPECT_EQ(convolve(2, "size=3 rhs_reversal=1"), "{ { { 123, 234 } } }");
  EXPECT_EQ(convolve(2, "size=3 stride=2 pad=1_1"), "{ { { 210, 432 } } }");
  EXPECT_EQ(convolve(1, "size=3 pad=-1_0"), "{ { { 432 } } }");
  EXPECT_EQ(convolve(2, "size=3 rhs_dilate=2 pad=1_1"), "{ { { 420, 31 } } }");
  EXPECT_EQ(convolve(5, "size=3 lhs_dilate=2"), "{ { { 201, 20, 302, 30, 403 } } }");
}

TEST(Convolution, groups_split_features_and_batches) {
  EXPECT_EQ(run_text(R"(ENTRY e { a = f32[1,2,1] parameter(0) k = f32[2,1,1] parameter(1)
    ROOT r = f32[1,2,1] convolution(a, k), window={size=1}, dim_labels=bf0_oi0->bf0, feature_group_count=2 })",
                     {"{ { {3}, {5} } }", "{ { {10} }, { {100} } }"}),
            "{ { { 30 }, { 500 } } }");
  EXPECT_EQ(run_text(R"(ENTRY e { a = f32[2,1,1] parameter(0) k = f32[2,1,1] parameter(1)
    ROOT r = f32[1,2,1] convolution(a, k), window={size=1}, dim_labels=bf0_oi0->bf0, batch_group_count=2 })",
                     {"{ { {3} }, { {5} } }", "{ { {10} }, { {100} } }"}),
            "{ { { 30 }, { 500 } } }");
}

TEST(Fft, of_lengths_that_are_no_power_of_two) {
  EXPECT_EQ(run_text(R"(ENTRY e { a = f64[3] parameter(0) f = c128[2] fft(a), fft_type=RFFT, fft_length={3}
    b = f64[3] fft(f), fft_type=IRFFT, fft_length={3} h = f64[3] constant({0.5, 0.5, 0.5}) s = f64[3] add(b, h) ROOT r = f64[3] floor(s) })",
                     {"{1, 2, 3}"}),
            "{1, 2, 3}");
  EXPECT_EQ(
      run_text("ENTRY e { a = c64[4] parameter(0) ROOT f = c64[4] fft(a), fft_type=FFT, fft_length={4} }",
               {"{(1, 0), (2, 0), (3, 0), (4, 0)}"}),
      "{(10, 0), (-2, 2), (-2, 0), (-2, -2)}");
}

}  // namespace
}  // namespace armillary
