// The builder's real arithmetic, run by a tiny evaluator and compared with the meaning written down here.
#include "xla_core/ops/tape.h"

#include <gtest/gtest.h>

#include <random>

#include "xla_core/ops/tiny_evaluator.h"

namespace armillary {
namespace {

using Bits = uint64_t;
const double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

// Result bits of a recipe over arguments given as bits.
template <class F>
Bits evaluate(std::vector<std::pair<DType, Bits>> arguments, F recipe) {
  Tape tape;
  TapeBuilder b(tape);
  TinyEvaluator evaluator;
  std::vector<Val> x;
  for (size_t i = 0; i < arguments.size(); ++i) {
    x.push_back(b.arg(static_cast<int>(i), arguments[i].first));
    evaluator.args[static_cast<int>(i)] = {arguments[i].second};
  }
  const Val result = recipe(b, x);
  return evaluator.run(tape)[result.re];
}

int64_t on_ints(DType d, int64_t x, int64_t y, Val (TapeBuilder::*method)(Val, Val)) {
  const Bits bits = evaluate({{d, TinyEvaluator::wrap(d, x)}, {d, TinyEvaluator::wrap(d, y)}},
                             [&](auto& b, auto& v) { return (b.*method)(v[0], v[1]); });
  return is_signed(d) ? TinyEvaluator::as_signed(d, bits) : static_cast<int64_t>(bits);
}
int64_t on_int(DType d, int64_t x, Val (TapeBuilder::*method)(Val)) {
  const Bits bits =
      evaluate({{d, TinyEvaluator::wrap(d, x)}}, [&](auto& b, auto& v) { return (b.*method)(v[0]); });
  return is_signed(d) ? TinyEvaluator::as_signed(d, bits) : static_cast<int64_t>(bits);
}
double on_floats(DType d, double x, double y, Val (TapeBuilder::*method)(Val, Val)) {
  return TinyEvaluator::as_double(
      d, evaluate({{d, TinyEvaluator::from_double(d, x)}, {d, TinyEvaluator::from_double(d, y)}},
                  [&](auto& b, auto& v) { return (b.*method)(v[0], v[1]); }));
}

TEST(Tape, sub_byte_integers_wrap_after_each_operation) {
  using B = TapeBuilder;
  for (int64_t x = -8; x < 8; ++x)
    for (int64_t y = -8; y < 8; ++y) {
      auto wrap4 = [](int64_t v) { return ((v & 15) ^ 8) - 8; };
      EXPECT_EQ(on_ints(DType::kS4, x, y, &B::add), wrap4(x + y));
      EXPECT_EQ(on_ints(DType::kS4, x, y, &B::mul), wrap4(x * y));
      EXPECT_EQ(on_ints(DType::kS4, x, y, &B::mulhi), (x * y) >> 4);
      EXPECT_EQ(on_ints(DType::kS4, x, y, &B::div), y == 0 ? -1 : wrap4(x / y));
      EXPECT_EQ(on_ints(DType::kS4, x, y, &B::rem), y == 0 ? x : x % y);
      const int64_t amount = y & 15;
      EXPECT_EQ(on_ints(DType::kS4, x, y, &B::shl), amount >= 4 ? 0 : wrap4(x << amount));
      EXPECT_EQ(on_ints(DType::kS4, x, y, &B::shr_logical), amount >= 4 ? 0 : wrap4((x & 15) >> amount))
          << x << " " << y;
      EXPECT_EQ(on_ints(DType::kS4, x, y, &B::shr_arith), wrap4(x >> std::min<int64_t>(amount, 7)))
          << x << " " << y;
      EXPECT_EQ(on_ints(DType::kU4, x & 15, y & 15, &B::shr_arith),
                wrap4(x >> std::min<int64_t>(amount, 7)) & 15);
      EXPECT_EQ(on_ints(DType::kU4, x & 15, y & 15, &B::sub), (x - y) & 15);
      EXPECT_EQ(on_ints(DType::kU4, x & 15, y & 15, &B::max), std::max(x & 15, y & 15));
    }
}

TEST(Tape, counts_of_bits_see_only_the_type_s_own_bits) {
  for (int64_t x = -8; x < 8; ++x) {
    EXPECT_EQ(on_int(DType::kS4, x, &TapeBuilder::popcnt), std::popcount(static_cast<uint64_t>(x & 15)));
    const int64_t zeros = std::countl_zero(static_cast<uint8_t>(x & 15)) - 4;
    EXPECT_EQ(on_int(DType::kS4, x, &TapeBuilder::clz), zeros);
  }
  EXPECT_EQ(on_int(DType::kS8, -1, &TapeBuilder::popcnt), 8);
  EXPECT_EQ(on_int(DType::kU16, 1, &TapeBuilder::clz), 15);
}

TEST(Tape, integer_powers_square_and_wrap) {
  auto expected = [](DType d, int64_t base, int64_t exponent) -> int64_t {
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    Bits result = 1;
    for (int64_t i = 0; i < exponent; ++i) result *= static_cast<Bits>(base);
    result = TinyEvaluator::wrap(d, result);
    return is_signed(d) ? TinyEvaluator::as_signed(d, result) : static_cast<int64_t>(result);
  };
  for (DType d : {DType::kS4, DType::kS8, DType::kS32, DType::kS64})
    for (int64_t base = -4; base <= 4; ++base)
      for (int64_t exponent = -3; exponent <= 7; ++exponent)
        EXPECT_EQ(on_ints(d, base, exponent, &TapeBuilder::pow), expected(d, base, exponent))
            << to_string(d) << " " << base << "^" << exponent;
  EXPECT_EQ(on_ints(DType::kU8, 3, 200, &TapeBuilder::pow), expected(DType::kU8, 3, 200));
  EXPECT_EQ(on_ints(DType::kS64, 3, 1000003, &TapeBuilder::pow), expected(DType::kS64, 3, 1000003));
}

TEST(Tape, narrow_floats_round_after_each_operation) {
  EXPECT_EQ(on_floats(DType::kBF16, 256, 1, &TapeBuilder::add), 256);  // 257 needs nine bits
  EXPECT_EQ(on_floats(DType::kF16, 60000, 60000, &TapeBuilder::add), kInf);
  EXPECT_EQ(on_floats(DType::kF8E4M3FN, 1.5, 1.25, &TapeBuilder::mul), 1.875);
  EXPECT_TRUE(std::isnan(on_floats(DType::kBF16, kNan, 1, &TapeBuilder::max)));
}

TEST(Tape, pred_arithmetic_is_logic) {
  for (int64_t x : {0, 1})
    for (int64_t y : {0, 1}) {
      EXPECT_EQ(on_ints(DType::kPred, x, y, &TapeBuilder::add), x | y);
      EXPECT_EQ(on_ints(DType::kPred, x, y, &TapeBuilder::mul), x & y);
      EXPECT_EQ(on_ints(DType::kPred, x, y, &TapeBuilder::max), x | y);
      EXPECT_EQ(on_ints(DType::kPred, x, y, &TapeBuilder::min), x & y);
    }
}

TEST(Tape, selecting_a_narrow_float_keeps_its_bits) {
  for (Bits bits : {Bits{0x7f81}, Bits{0x8000}, Bits{0x3f80}}) {  // a signalling NaN among them
    auto pick = [](auto& b, auto& x) { return b.select(x[2], x[0], x[1]); };
    EXPECT_EQ(evaluate({{DType::kBF16, bits}, {DType::kBF16, 0}, {DType::kPred, 1}}, pick), bits);
  }
}

TEST(Tape, total_order_puts_nans_outside_and_minus_zero_before_zero) {
  const double ordered[] = {-kNan, -kInf, -1.5, -0.0, 0.0, 1.5, kInf, kNan};
  for (DType d : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64})
    for (size_t i = 0; i < std::size(ordered); ++i)
      for (size_t j = 0; j < std::size(ordered); ++j) {
        const Bits less = evaluate(
            {{d, TinyEvaluator::from_double(d, ordered[i])}, {d, TinyEvaluator::from_double(d, ordered[j])}},
            [](auto& b, auto& x) { return b.compare_total(Prim::kLt, x[0], x[1]); });
        EXPECT_EQ(less, Bits(i < j)) << to_string(d) << " " << ordered[i] << " " << ordered[j];
      }
}

TEST(Tape, reducing_precision_to_a_type_equals_a_round_trip_through_it) {
  std::mt19937_64 random(20);
  for (int i = 0; i < 20000; ++i) {
    const uint32_t bits = static_cast<uint32_t>(random());
    const float x = std::bit_cast<float>(bits);
    if (std::isnan(x)) continue;
    const Bits got =
        evaluate({{DType::kF32, bits}}, [](auto& b, auto& v) { return b.reduce_precision(v[0], 8, 7); });
    const double bf16 = decode_float(DType::kBF16, encode_float(DType::kBF16, x));
    if (std::fabs(x) >= 0x1p-126f) {
      EXPECT_EQ(TinyEvaluator::as_double(DType::kF32, got), bf16) << x;
    }
    const Bits half =
        evaluate({{DType::kF32, bits}}, [](auto& b, auto& v) { return b.reduce_precision(v[0], 5, 10); });
    const double f16 = decode_float(DType::kF16, encode_float(DType::kF16, x));
    const double reduced = TinyEvaluator::as_double(DType::kF32, half);
    if (std::fabs(x) >= 0x1p-14f) {
      EXPECT_EQ(reduced, f16) << x;
    }
    if (std::fabs(x) < 0x1.fp-15f) {
      EXPECT_EQ(reduced, 0) << x;
    }  // subnormals are flushed
  }
  EXPECT_TRUE(std::isnan(TinyEvaluator::as_double(
      DType::kF32, evaluate({{DType::kF32, 0x7f800001}},
                            [](auto& b, auto& v) { return b.reduce_precision(v[0], 5, 2); }))));
}

TEST(Tape, finiteness_is_false_on_infinities_and_nan) {
  for (DType d : {DType::kBF16, DType::kF32, DType::kF64}) {
    auto finite = [&](double x) {
      return evaluate({{d, TinyEvaluator::from_double(d, x)}},
                      [](auto& b, auto& v) { return b.is_finite(v[0]); });
    };
    EXPECT_EQ(finite(1e30), 1u);
    for (double x : {kInf, -kInf, kNan}) EXPECT_EQ(finite(x), 0u);
  }
}

TEST(Tape, index_arithmetic_on_constants_leaves_one_node) {
  Tape tape;
  TapeBuilder b(tape);
  const Val loop{b.push({Prim::kIndex, DType::kS64}), -1, DType::kS64};
  EXPECT_EQ(b.add(loop, b.index_const(0)).re, loop.re);
  EXPECT_EQ(b.mul(loop, b.index_const(1)).re, loop.re);
  const Val folded = b.add(b.mul(b.index_const(5), b.index_const(3)), b.index_const(1));
  EXPECT_EQ(tape.nodes[folded.re].prim, Prim::kConst);
  EXPECT_EQ(tape.nodes[folded.re].imm, 16);
  EXPECT_EQ(tape.nodes[b.floor_div(folded, 5).re].imm, 3);
  EXPECT_EQ(tape.nodes[b.mod(folded, 5).re].imm, 1);
}

TEST(Tape, splitting_and_joining_indices_are_inverse) {
  const std::vector<int64_t> dims = {3, 1, 4, 5};
  for (int64_t linear = 0; linear < 60; ++linear) {
    Tape tape;
    TapeBuilder b(tape);
    const std::vector<Val> index = b.delinearize(b.index_const(linear), dims);
    EXPECT_EQ(tape.nodes[b.linear_index(dims, index).re].imm, linear);
  }
}

}  // namespace
}  // namespace armillary
