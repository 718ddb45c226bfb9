// Rows of the random number generators.
#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

// 1: the distribution is known; 2: two scalar bounds (or mean and deviation) of the result's type.
Shape rng_shape(const OpContext& c) {
  check_signature(Op::rng, c);
  const std::string& distribution = c.attrs.text(Attr::distribution);
  if (distribution != "rng_uniform" && distribution != "rng_normal")
    throw user_error("distribution={} of rng is neither rng_uniform nor rng_normal", distribution);
  const Shape& result = stated_shape(Op::rng, c);
  if (c.operands.size() < 2) throw user_error("rng has {} operands, but needs 2", c.operands.size());
  for (int i = 0; i < 2; ++i) {
    need_scalar(Op::rng, c, i, distribution == "rng_normal" ? kFloatType : kRealType | kPredType);
    if (c.operand(i).dtype != result.dtype)
      throw user_error("operand {} is {}, but rng needs {}", i, to_string(c.operand(i)),
                       to_string(Shape::scalar(result.dtype)));
  }
  return array_result(c, result.dtype, result.dims);
}

// The result is (state, bits), or the bits alone.
Shape rng_bit_generator_shape(const OpContext& c) {
  check_signature(Op::rng_bit_generator, c);
  need_array(Op::rng_bit_generator, c,
             0);  // which states an algorithm takes is its implementation's business
  const Shape& result = stated_shape(Op::rng_bit_generator, c);
  const Shape& bits = result.is_tuple() && !result.tuple.empty() ? result.tuple.back() : result;
  if (!contains(kAnyType & ~kComplexType, bits.dtype))
    throw user_error("rng-bit-generator gives {}, but must give bits as an array of numbers",
                     to_string(result));
  const Shape array(bits.dtype, bits.dims);
  return result.is_tuple() ? Shape::make_tuple({c.operand(0).without_layout(), array}) : array;
}

// 1: the algorithm is known.
void rng_bit_generator_check(const OpContext& c) {
  const std::string& algorithm = c.attrs.text(Attr::algorithm);
  if (algorithm != "rng_default" && algorithm != "rng_three_fry" && algorithm != "rng_philox")
    throw user_error("algorithm={} of rng-bit-generator is none of rng_default, rng_three_fry, rng_philox",
                     algorithm);
}

Shape rng_state_shape(const OpContext& c) {
  check_signature(Op::rng_get_and_update_state, c);
  return Shape(DType::kU64, {2});
}

}  // namespace

std::vector<OpDef> random_rows() {
  return {
      {.op = Op::rng,
       .stablehlo = "rng",
       .arity = kVariadic,
       .traits = kHasEffect | kNeedsShape | kExpensive,
       .attrs = {Attr::distribution},
       .doc = "Random numbers, uniform in [operand 0, operand 1) or normal with that mean and deviation.",
       .infer = rng_shape},
      {.op = Op::rng_bit_generator,
       .stablehlo = "rng_bit_generator",
       .arity = 1,
       .traits = kNeedsShape | kExpensive,
       .attrs = {Attr::algorithm},
       .doc = "Random bits from a counter-based generator, and its next state.",
       .infer = rng_bit_generator_shape,
       .check = rng_bit_generator_check},
      {.op = Op::rng_get_and_update_state,
       .arity = 0,
       .traits = kHasEffect,
       .optional = {Attr::delta},
       .doc = "The process's generator state, which then advances by `delta`.",
       .infer = rng_state_shape},
  };
}

}  // namespace armillary
