// Rows of the elementwise ops with two operands of one type.
#include <limits>

#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

template <Op kOp, uint32_t kTypes>
OpDef binary(std::string_view stablehlo, std::string_view doc, auto scalar, uint32_t traits = 0) {
  return {.op = kOp,
          .stablehlo = stablehlo,
          .arity = 2,
          .traits = kElementwise | traits,
          .optional = {Attr::result_accuracy},
          .doc = doc,
          .infer = same_as_operands<kOp, kTypes>,
          .meaning = Meaning::kScalar,
          .scalar = scalar};
}

OpDef with_identity(OpDef row, Val (*identity)(TapeBuilder&, DType)) {
  row.identity = identity;
  return row;
}

// 0, but -0.0 + 0.0 is 0.0.
Val zero_to_add(TapeBuilder& b, DType d) { return is_float(d) ? b.constant(d, -0.0) : b.zero(d); }
Val one(TapeBuilder& b, DType d) { return b.one(d); }
Val zero(TapeBuilder& b, DType d) { return b.zero(d); }
Val all_ones(TapeBuilder& b, DType d) { return is_pred(d) ? b.one(d) : b.constant_int(d, -1); }

// Complex numbers have no largest and no smallest.
Val largest(TapeBuilder& b, DType d) {
  if (is_complex(d)) return {};
  if (is_float(d)) return b.constant(d, std::numeric_limits<double>::infinity());
  if (is_pred(d) || is_unsigned(d)) return all_ones(b, d);
  return b.constant_int(d, static_cast<int64_t>((uint64_t{1} << (bit_width(d) - 1)) - 1));
}
Val smallest(TapeBuilder& b, DType d) {
  if (is_complex(d)) return {};
  if (is_float(d)) return b.constant(d, -std::numeric_limits<double>::infinity());
  if (is_pred(d) || is_unsigned(d)) return b.constant_int(d, 0);
  return b.constant_int(d, -static_cast<int64_t>((uint64_t{1} << (bit_width(d) - 1)) - 1) - 1);
}

template <auto kMethod>
Val call(TapeBuilder& b, Xs x, const OpContext& c, DType d) {
  return call_binary<kMethod>(b, x, c, d);
}

Shape complex_shape(const OpContext& c) {
  check_signature(Op::complex, c);
  need_array(Op::complex, c, 0, kFloatType);
  const DType result = complex_of(c.operand(0).dtype);
  if (result == DType::kInvalid)
    throw user_error("operand 0 is {}, but complex needs f32 or f64 parts", to_string(c.operand(0)));
  need_same_shape(Op::complex, c, 1, 0);
  return array_result(c, result, c.operand(0).dims);
}

// Bits decide where float comparison may not: TOTALORDER puts -NaN first and NaN last.
bool is_total_order(const OpContext& c) { return c.attrs.text(Attr::type, "") == "TOTALORDER"; }

Prim direction_of(const OpContext& c) {
  static constexpr std::pair<std::string_view, Prim> kDirections[] = {{"EQ", Prim::kEq}, {"NE", Prim::kNe},
                                                                      {"LT", Prim::kLt}, {"LE", Prim::kLe},
                                                                      {"GT", Prim::kGt}, {"GE", Prim::kGe}};
  const std::string& name = c.attrs.text(Attr::direction);
  for (const auto& [text, prim] : kDirections)
    if (text == name) return prim;
  throw user_error("direction={} of compare is none of EQ, NE, LT, LE, GT, GE", name);
}

Val compare(TapeBuilder& b, Xs x, const OpContext& c, DType) {
  const Prim direction = direction_of(c);
  return is_total_order(c) ? b.compare_total(direction, x[0], x[1]) : b.compare(direction, x[0], x[1]);
}

Shape compare_shape(const OpContext& c) {
  check_signature(Op::compare, c);
  need_array(Op::compare, c, 0);
  need_same_shape(Op::compare, c, 1, 0);
  return array_result(c, DType::kPred, c.operand(0).dims);
}

// 1: the direction exists; 2: complex numbers have no order; 3: the type fits the operands.
void compare_check(const OpContext& c) {
  const Prim direction = direction_of(c);
  const DType d = c.operand(0).dtype;
  if (is_complex(d) && direction != Prim::kEq && direction != Prim::kNe)
    throw user_error("operand 0 is {}, but compare with direction={} needs an ordered type",
                     to_string(c.operand(0)), c.attrs.text(Attr::direction));
  if (!c.attrs.has(Attr::type)) return;
  const std::string& type = c.attrs.text(Attr::type);
  const bool fits = type == "TOTALORDER" ? is_float(d)
                    : type == "FLOAT"    ? is_float(d) || is_complex(d)
                    : type == "SIGNED"   ? is_signed(d)
                    : type == "UNSIGNED" ? is_unsigned(d) || is_pred(d)
                                         : false;
  if (!fits) throw user_error("type={} of compare does not fit operands of type {}", type, to_string(d));
}

OpDef compare_row() {
  return {.op = Op::compare,
          .stablehlo = "compare",
          .arity = 2,
          .traits = kElementwise,
          .attrs = {Attr::direction},
          .optional = {Attr::type},
          .doc = "Compares elements by `direction`; IEEE order on floats, or the total order of their bits.",
          .infer = compare_shape,
          .check = compare_check,
          .meaning = Meaning::kScalar,
          .scalar = compare};
}

OpDef complex_row() {
  OpDef row = binary<Op::complex, kFloatType>("complex", "A complex number from its real and imaginary part.",
                                              call<&TapeBuilder::complex>);
  row.infer = complex_shape;
  return row;
}

}  // namespace

std::vector<OpDef> elementwise_binary_rows() {
  using B = TapeBuilder;
  constexpr uint32_t kNumbers = kNumberType, kIntegers = kIntegerType, kReals = kRealType;
  return {
      with_identity(binary<Op::add, kAnyType>("add", "x + y; on pred it is or.", call<&B::add>, kCommutative),
                    zero_to_add),
      binary<Op::subtract, kNumbers>("subtract", "x - y.", call<&B::sub>),
      with_identity(binary<Op::multiply, kAnyType>("multiply", "x * y; on pred it is and.", call<&B::mul>,
                                                   kCommutative),
                    one),
      binary<Op::divide, kNumbers>("divide", "x / y; integers truncate, by zero they give all ones.",
                                   call<&B::div>),
      binary<Op::remainder, kReals>(
          "remainder", "What truncating division leaves, with the sign of x; by zero x.", call<&B::rem>),
      with_identity(binary<Op::maximum, kAnyType>(
                        "maximum", "The larger one; NaN wins; complex numbers compare lexicographically.",
                        call<&B::max>, kCommutative),
                    smallest),
      with_identity(binary<Op::minimum, kAnyType>(
                        "minimum", "The smaller one; NaN wins; complex numbers compare lexicographically.",
                        call<&B::min>, kCommutative),
                    largest),
      binary<Op::mulhi, kIntegers>("", "The high half of the product of double width.", call<&B::mulhi>,
                                   kCommutative),
      binary<Op::power, kNumbers>("power", "x to the power y.", call<&B::pow>, kExpensive),
      binary<Op::atan2, kFloatType>("atan2", "The angle of the point (y, x) = operands 0 and 1.",
                                    call<&B::atan2>, kExpensive),
      with_identity(binary<Op::and_, kIntegralType>("and", "Bitwise and.", call<&B::bit_and>, kCommutative),
                    all_ones),
      with_identity(binary<Op::or_, kIntegralType>("or", "Bitwise or.", call<&B::bit_or>, kCommutative),
                    zero),
      with_identity(
          binary<Op::xor_, kIntegralType>("xor", "Bitwise exclusive or.", call<&B::bit_xor>, kCommutative),
          zero),
      binary<Op::shift_left, kIntegers>(
          "shift_left", "x shifted up by y bits; 0 when y is not below the width.", call<&B::shl>),
      binary<Op::shift_right_logical, kIntegers>(
          "shift_right_logical", "x shifted down by y bits, zeros enter.", call<&B::shr_logical>),
      binary<Op::shift_right_arithmetic, kIntegers>("shift_right_arithmetic",
                                                    "x shifted down by y bits, copies of the sign enter.",
                                                    call<&B::shr_arith>),
      compare_row(),
      complex_row(),
  };
}

}  // namespace armillary
