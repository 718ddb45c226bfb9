// Rows of the elementwise ops with one operand.
#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

template <Op kOp, uint32_t kTypes>
OpDef unary(std::string_view stablehlo, std::string_view doc, auto scalar, uint32_t traits = 0) {
  return {.op = kOp,
          .stablehlo = stablehlo,
          .arity = 1,
          .traits = kElementwise | traits,
          .optional = {Attr::result_accuracy},
          .doc = doc,
          .infer = same_as_operands<kOp, kTypes>,
          .meaning = Meaning::kScalar,
          .scalar = scalar};
}

template <auto kMethod>
Val call(TapeBuilder& b, Xs x, const OpContext& c, DType d) {
  return call_unary<kMethod>(b, x, c, d);
}

// Narrow floats are widened once for the whole formula and c64 goes through c128, so that only the result is
// rounded.
DType roomy(DType d) { return is_complex(d) ? DType::kC128 : d == DType::kF64 ? d : DType::kF32; }

// e / (1 + e) on the left and 1 / (1 + e) on the right, with e = exp(-|x|): never overflows, keeps the small
// results of the left.
Val logistic(TapeBuilder& b, Xs x, const OpContext&, DType d) {
  const Val wide = b.convert(x[0], roomy(d)), one = b.one(wide.dtype);
  if (is_complex(d)) return b.convert(b.div(one, b.add(one, b.exp(b.neg(wide)))), d);
  const Val e = b.exp(b.neg(b.abs(wide))), below = b.add(one, e);
  return b.convert(b.div(b.select(b.compare(Prim::kLt, wide, b.zero(wide.dtype)), e, one), below), d);
}

Val is_finite_scalar(TapeBuilder& b, Xs x, const OpContext&, DType) { return b.is_finite(x[0]); }

Shape is_finite_shape(const OpContext& c) {
  check_signature(Op::is_finite, c);
  need_array(Op::is_finite, c, 0, kFloatType);
  return array_result(c, DType::kPred, c.operand(0).dims);
}

template <Op kOp>
Shape part_shape(const OpContext& c) {
  check_signature(kOp, c);
  need_array(kOp, c, 0, kInexactType);
  return array_result(c, real_part_of(c.operand(0).dtype), c.operand(0).dims);
}

Shape abs_shape(const OpContext& c) {
  check_signature(Op::abs, c);
  need_array(Op::abs, c, 0, kNumberType);
  return array_result(c, real_part_of(c.operand(0).dtype), c.operand(0).dims);
}

OpDef with_infer(OpDef row, Shape (*infer)(const OpContext&)) {
  row.infer = infer;
  return row;
}

}  // namespace

std::vector<OpDef> elementwise_unary_rows() {
  using B = TapeBuilder;
  constexpr uint32_t kInexact = kInexactType, kFloats = kFloatType;
  return {
      with_infer(unary<Op::abs, kNumberType>("abs", "The absolute value; of a complex number its modulus.",
                                             call<&B::abs>),
                 abs_shape),
      unary<Op::negate, kNumberType>("negate", "-x; integers wrap.", call<&B::neg>),
      unary<Op::sign, kNumberType>(
          "sign", "-1, 0 or 1; NaN and signed zeros stay, a complex x gives x / |x|.", call<&B::sign>),
      unary<Op::not_, kIntegralType>("not", "Complements every bit; on pred it is logical.",
                                     call<&B::bit_not>),
      unary<Op::popcnt, kIntegerType>("popcnt", "Number of bits set.", call<&B::popcnt>),
      unary<Op::count_leading_zeros, kIntegerType>(
          "count_leading_zeros", "Number of zero bits above the highest set one.", call<&B::clz>),
      unary<Op::floor, kFloats>("floor", "Rounds down.", call<&B::floor>),
      unary<Op::ceil, kFloats>("ceil", "Rounds up.", call<&B::ceil>),
      unary<Op::round_nearest_even, kFloats>("round_nearest_even",
                                             "Rounds to the nearest integer, halves to the even one.",
                                             call<&B::round_even>),
      unary<Op::round_nearest_afz, kFloats>(
          "round_nearest_afz", "Rounds to the nearest integer, halves away from zero.", call<&B::round_afz>),
      with_infer(unary<Op::is_finite, kFloats>("is_finite", "True where x is neither infinite nor NaN.",
                                               is_finite_scalar),
                 is_finite_shape),
      with_infer(unary<Op::real, kInexact>("real", "The real part.", call<&B::real>), part_shape<Op::real>),
      with_infer(unary<Op::imag, kInexact>("imag", "The imaginary part, 0 for real x.", call<&B::imag>),
                 part_shape<Op::imag>),
      unary<Op::sqrt, kInexact>("sqrt", "The square root.", call<&B::sqrt>),
      unary<Op::rsqrt, kInexact>("rsqrt", "1 / sqrt(x).", call<&B::rsqrt>),
      unary<Op::cbrt, kInexact>("cbrt", "The cube root.", call<&B::cbrt>, kExpensive),
      unary<Op::exponential, kInexact>("exponential", "e to the power x.", call<&B::exp>, kExpensive),
      unary<Op::exponential_minus_one, kInexact>("exponential_minus_one", "exp(x) - 1, accurate near 0.",
                                                 call<&B::expm1>, kExpensive),
      unary<Op::log, kInexact>("log", "The natural logarithm.", call<&B::log>, kExpensive),
      unary<Op::log_plus_one, kInexact>("log_plus_one", "log(1 + x), accurate near 0.", call<&B::log1p>,
                                        kExpensive),
      unary<Op::logistic, kInexact>("logistic", "1 / (1 + exp(-x)).", logistic, kExpensive),
      unary<Op::sine, kInexact>("sine", "The sine of x radians.", call<&B::sin>, kExpensive),
      unary<Op::cosine, kInexact>("cosine", "The cosine of x radians.", call<&B::cos>, kExpensive),
      unary<Op::tan, kInexact>("tan", "The tangent of x radians.", call<&B::tan>, kExpensive),
      unary<Op::tanh, kInexact>("tanh", "The hyperbolic tangent.", call<&B::tanh>, kExpensive),
      unary<Op::erf, kFloats>("", "The error function.", call<&B::erf>, kExpensive),
      unary<Op::asin, kInexact>("", "The arc sine in radians.", call<&B::asin>, kExpensive),
      unary<Op::acos, kInexact>("", "The arc cosine in radians.", call<&B::acos>, kExpensive),
      unary<Op::atan, kInexact>("", "The arc tangent in radians.", call<&B::atan>, kExpensive),
      unary<Op::sinh, kInexact>("", "The hyperbolic sine.", call<&B::sinh>, kExpensive),
      unary<Op::cosh, kInexact>("", "The hyperbolic cosine.", call<&B::cosh>, kExpensive),
      unary<Op::asinh, kInexact>("", "The inverse hyperbolic sine.", call<&B::asinh>, kExpensive),
      unary<Op::acosh, kInexact>("", "The inverse hyperbolic cosine.", call<&B::acosh>, kExpensive),
      unary<Op::atanh, kInexact>("", "The inverse hyperbolic tangent.", call<&B::atanh>, kExpensive),
  };
}

}  // namespace armillary
