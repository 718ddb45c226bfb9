// Element by element: an op of HLO each, with what XLA's builder puts around a few of them.
#include "xla_core/io/vhlo/op_import.h"

namespace armillary::vhlo {
namespace {

template <Op kOp>
void plain(OpImport& at) {
  at.give(at.emit(kOp, at.shape(), at.operands()));
}

// How exact a function must be: 0 as usual, 1 as exact as can be, 2 within a tolerance.
template <Op kOp>
void with_accuracy(OpImport& at) {
  Attrs attrs;
  const Attribute* accuracy = at.find("result_accuracy");
  if (accuracy != nullptr && accuracy->kind == AttributeKind::kAccuracy) {
    std::string text;
    if (accuracy->number == 1) text = "{mode=highest}";
    if (accuracy->number == 2)
      text = fmt::format("{{tolerance={{atol={},rtol={},ulps={}}}}}", accuracy->reals[0], accuracy->reals[1],
                         accuracy->other[0]);
    if (!text.empty()) attrs.set(Attr::result_accuracy, RawText{std::move(text), false});
  }
  at.give(at.emit(kOp, at.shape(), at.operands(), std::move(attrs)));
}

Instruction* spread(OpImport& at, Instruction* scalar, const Dims& dims) {
  if (!scalar->shape().is_scalar() || dims.empty()) return scalar;
  Attrs attrs;
  attrs.set(Attr::dimensions, Dims{});
  return at.emit(Op::broadcast, Shape(scalar->dtype(), dims), {scalar}, std::move(attrs));
}

// Scalars among arrays are spread out: HLO itself does not.
template <Op kOp>
void ternary(OpImport& at) {
  std::vector<Instruction*> x = at.operands();
  for (Instruction*& operand : x) operand = spread(at, operand, at.shape().dims);
  at.give(at.emit(kOp, at.shape(), std::move(x)));
}

void convert(OpImport& at) {
  Instruction* x = at.operand(0);
  if (is_complex(x->dtype()) && !is_complex(at.shape().dtype))
    x = at.emit(Op::real, x->shape().with_dtype(real_part_of(x->dtype())), {x});
  at.give(at.emit(Op::convert, at.shape(), {x}));
}

constexpr std::string_view kDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
constexpr std::string_view kComparisons[] = {"", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};

template <size_t kNames>
std::string enum_name(const std::string_view (&names)[kNames], int64_t number) {
  if (number < 0 || number >= static_cast<int64_t>(kNames))
    throw user_error("an enumeration holds {}", number);
  return std::string(names[number]);
}

void compare(OpImport& at) {
  Attrs attrs;
  attrs.set(Attr::direction, enum_name(kDirections, at.integer("comparison_direction")));
  const std::string type = enum_name(kComparisons, at.integer("compare_type"));
  const DType dtype = at.operand(0)->dtype();
  const std::string_view usual = is_signed(dtype) ? "SIGNED" : is_integral(dtype) ? "UNSIGNED" : "FLOAT";
  if (!type.empty() && type != usual) attrs.set(Attr::type, type);
  at.give(at.emit(Op::compare, at.shape(), at.operands(), std::move(attrs)));
}

void reduce_precision(OpImport& at) {
  Attrs attrs;
  attrs.set(Attr::exponent_bits, at.integer("exponent_bits"));
  attrs.set(Attr::mantissa_bits, at.integer("mantissa_bits"));
  at.give(at.emit(Op::reduce_precision, at.shape(), at.operands(), std::move(attrs)));
}

template <Op kOp>
void add_with_accuracy(std::vector<OpRow>& rows, std::string_view first, std::string_view second) {
  rows.push_back({"vhlo", first, {}, plain<kOp>});
  rows.push_back({"vhlo", second, {"result_accuracy"}, with_accuracy<kOp>});
}

}  // namespace

std::vector<OpRow> elementwise_rows() {
  std::vector<OpRow> rows = {
      {"vhlo", "abs_v1", {}, plain<Op::abs>},
      {"vhlo", "add_v1", {}, plain<Op::add>},
      {"vhlo", "and_v1", {}, plain<Op::and_>},
      {"vhlo", "atan2_v1", {}, plain<Op::atan2>},
      {"vhlo", "bitcast_convert_v1", {}, plain<Op::bitcast_convert>, Quantized::kAsStored},
      {"vhlo", "ceil_v1", {}, plain<Op::ceil>},
      {"vhlo", "clamp_v1", {}, ternary<Op::clamp>},
      {"vhlo", "compare_v1", {"comparison_direction", "compare_type"}, compare},
      {"vhlo", "complex_v1", {}, plain<Op::complex>},
      {"vhlo", "convert_v1", {}, convert},
      {"vhlo", "count_leading_zeros_v1", {}, plain<Op::count_leading_zeros>},
      {"vhlo", "divide_v1", {}, plain<Op::divide>},
      {"vhlo", "floor_v1", {}, plain<Op::floor>},
      {"vhlo", "imag_v1", {}, plain<Op::imag>},
      {"vhlo", "is_finite_v1", {}, plain<Op::is_finite>},
      {"vhlo", "maximum_v1", {}, plain<Op::maximum>},
      {"vhlo", "minimum_v1", {}, plain<Op::minimum>},
      {"vhlo", "multiply_v1", {}, plain<Op::multiply>},
      {"vhlo", "negate_v1", {}, plain<Op::negate>},
      {"vhlo", "not_v1", {}, plain<Op::not_>},
      {"vhlo", "or_v1", {}, plain<Op::or_>},
      {"vhlo", "popcnt_v1", {}, plain<Op::popcnt>},
      {"vhlo", "power_v1", {}, plain<Op::power>},
      {"vhlo", "real_v1", {}, plain<Op::real>},
      {"vhlo", "reduce_precision_v1", {"exponent_bits", "mantissa_bits"}, reduce_precision},
      {"vhlo", "remainder_v1", {}, plain<Op::remainder>},
      {"vhlo", "round_nearest_afz_v1", {}, plain<Op::round_nearest_afz>},
      {"vhlo", "round_nearest_even_v1", {}, plain<Op::round_nearest_even>},
      {"vhlo", "select_v1", {}, ternary<Op::select>, Quantized::kMoved},
      {"vhlo", "shift_left_v1", {}, plain<Op::shift_left>},
      {"vhlo", "shift_right_arithmetic_v1", {}, plain<Op::shift_right_arithmetic>},
      {"vhlo", "shift_right_logical_v1", {}, plain<Op::shift_right_logical>},
      {"vhlo", "sign_v1", {}, plain<Op::sign>},
      {"vhlo", "subtract_v1", {}, plain<Op::subtract>},
      {"vhlo", "xor_v1", {}, plain<Op::xor_>},
  };
  add_with_accuracy<Op::cbrt>(rows, "cbrt_v1", "cbrt_v2");
  add_with_accuracy<Op::cosine>(rows, "cosine_v1", "cosine_v2");
  add_with_accuracy<Op::exponential>(rows, "exponential_v1", "exponential_v2");
  add_with_accuracy<Op::exponential_minus_one>(rows, "exponential_minus_one_v1", "exponential_minus_one_v2");
  add_with_accuracy<Op::log>(rows, "log_v1", "log_v2");
  add_with_accuracy<Op::log_plus_one>(rows, "log_plus_one_v1", "log_plus_one_v2");
  add_with_accuracy<Op::logistic>(rows, "logistic_v1", "logistic_v2");
  add_with_accuracy<Op::rsqrt>(rows, "rsqrt_v1", "rsqrt_v2");
  add_with_accuracy<Op::sine>(rows, "sine_v1", "sine_v2");
  add_with_accuracy<Op::sqrt>(rows, "sqrt_v1", "sqrt_v2");
  add_with_accuracy<Op::tan>(rows, "tan_v1", "tan_v2");
  add_with_accuracy<Op::tanh>(rows, "tanh_v1", "tanh_v2");
  return rows;
}

}  // namespace armillary::vhlo
