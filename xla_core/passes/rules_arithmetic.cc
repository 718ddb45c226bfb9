// Arithmetic. Floats keep IEEE: no x * 0, no x + 0.0 (-0.0 + 0.0 is 0.0), no reassociation.
#include <bit>
#include <cmath>
#include <limits>

#include "xla_core/passes/rule_words.h"

namespace armillary {
namespace {

using namespace words;

// The exponent when the constant is a positive power of two, else -1.
int log2_of(const Instruction* constant) {
  uint64_t v = static_cast<uint64_t>(scalar_behind(*constant)->get_int(0));
  return std::has_single_bit(v) ? std::countr_zero(v) : -1;
}
bool unsigned_power_of_two(C m) { return is_unsigned(m.dtype()) && log2_of(m['c']) >= 0; }

// 1 / c when that is exact, normal and different from zero, else 0.
double exact_reciprocal(C m) {
  double value = scalar_behind(*m['c'])->get_double(0);
  int exponent;
  if (!std::isfinite(value) || std::fabs(std::frexp(value, &exponent)) != 0.5) return 0;
  double smallest = std::ldexp(1.0, 1 - info(m.dtype()).exponent_bias);
  double inverse = 1 / value;
  bool exact =
      std::fabs(inverse) >= smallest && decode_float(m.dtype(), encode_float(m.dtype(), inverse)) == inverse;
  return exact ? inverse : 0;
}
bool has_exact_reciprocal(C m) {
  return floating(m) && info(m.dtype()).style == FloatStyle::kIeee && exact_reciprocal(m) != 0;
}

// Is c the value that min (low = false) or max (low = true) can never pick against another one?
bool is_extreme(C m, bool low) {
  const Literal& literal = *scalar_behind(*m['c']);
  DType t = m.dtype();
  if (is_complex(t)) return false;
  if (is_float(t)) return literal.get_double(0) == (low ? -1 : 1) * std::numeric_limits<double>::infinity();
  int bits = bit_width(t);
  uint64_t ones = bits == 64 ? ~0ull : (1ull << bits) - 1;
  uint64_t value = static_cast<uint64_t>(literal.get_int(0)) & ones;
  if (is_signed(t)) return value == (low ? ones ^ (ones >> 1) : ones >> 1);
  return value == (low ? 0 : is_pred(t) ? 1 : ones);
}

bool is_all_ones(C m) {
  if (!integral(m)) return false;
  int64_t v = scalar_behind(*m['c'])->get_int(0);
  return is_pred(m.dtype())     ? v == 1
         : is_signed(m.dtype()) ? v == -1
                                : std::popcount(static_cast<uint64_t>(v)) == bit_width(m.dtype());
}

Instruction* unsigned_shift(M m) {
  return m.add(Op::shift_right_logical,
               {m['x'], m.splat(m.root()->shape(), m.scalar_int(m.dtype(), log2_of(m['c'])))});
}
Instruction* unsigned_mask(M m) {
  int64_t mask = scalar_behind(*m['c'])->get_int(0) - 1;
  return m.add(Op::and_, {m['x'], m.splat(m.root()->shape(), m.scalar_int(m.dtype(), mask))});
}
Instruction* multiply_by_reciprocal(M m) {
  return m.add(Op::multiply, {m['x'], m.splat(m.root()->shape(), exact_reciprocal(m))});
}

const Rule kRules[] = {
    {"add-zero", x + zero, x, integral},
    {"add-negative-zero", x + minus_zero, x, floating},
    {"subtract-zero", x - zero, x, real_number},
    {"subtract-self", x - x, zero, integer},
    {"multiply-one", x * one, x, real_number},
    {"multiply-zero", x * zero, zero, integral},
    {"multiply-minus-one", x * minus_one, -x, signed_number},
    {"multiply-negated", (-x) * (-y), x * y, real_number},
    {"divide-one", x / one, x, real_number},
    {"divide-by-power-of-two", x / c, multiply_by_reciprocal, has_exact_reciprocal},
    {"divide-unsigned", x / c, unsigned_shift, unsigned_power_of_two},
    {"remainder-one", of(Op::remainder, {x, one}), zero, integer},
    {"remainder-unsigned", of(Op::remainder, {x, c}), unsigned_mask, unsigned_power_of_two},
    {"double-negate", -(-x), x},
    {"add-negated", x + (-y), x - y},
    {"subtract-negated", x - (-y), x + y},
    {"negate-difference", -(x - y), y - x, integer},
    {"merge-add", (x + c) + d, x + (c + d), integer},
    {"merge-multiply", (x * c) * d, x * (c * d), integer},
    {"cancel-add", (x + y) - y, x, integer},
    {"abs-abs", of(Op::abs, {as('y', of(Op::abs, {x}))}), y, real_number},
    {"abs-negate", of(Op::abs, {-x}), of(Op::abs, {x}), signed_number},
    {"power-one", of(Op::power, {x, one}), x, floating},
    {"minimum-self", of(Op::minimum, {x, x}), x},
    {"maximum-self", of(Op::maximum, {x, x}), x},
    {"minimum-extreme", of(Op::minimum, {x, c}), x, [](C m) { return is_extreme(m, false); }},
    {"maximum-extreme", of(Op::maximum, {x, c}), x, [](C m) { return is_extreme(m, true); }},
    {"and-self", x & x, x},
    {"and-zero", x & zero, zero},
    {"and-ones", x & c, x, is_all_ones},
    {"or-self", x | x, x},
    {"or-zero", x | zero, x},
    {"or-ones", x | as('c', splat('c')), [](M m) { return m['c']; }, is_all_ones},
    {"xor-self", x ^ x, zero},
    {"xor-zero", x ^ zero, x},
    {"double-not", of(Op::not_, {of(Op::not_, {x})}), x},
    {"shift-left-zero", of(Op::shift_left, {x, zero}), x},
    {"shift-right-zero", of(Op::shift_right_logical, {x, zero}), x},
    {"shift-arithmetic-zero", of(Op::shift_right_arithmetic, {x, zero}), x},
    {"real-of-complex", of(Op::real, {of(Op::complex, {x, y})}), x},
    {"imag-of-complex", of(Op::imag, {of(Op::complex, {x, y})}), y},
    {"complex-of-parts", of(Op::complex, {of(Op::real, {x}), of(Op::imag, {x})}), x,
     [](C m) { return is_complex(m['x']->dtype()); }},
};

}  // namespace

std::span<const Rule> arithmetic_rules() { return kRules; }

}  // namespace armillary
