// Comparisons, selections and conversions.
#include <algorithm>

#include "xla_core/passes/rule_words.h"

namespace armillary {
namespace {

using namespace words;

const std::string& direction(const Instruction* compare) { return compare->attrs().text(Attr::direction); }

const char* opposite(const std::string& direction) {
  static constexpr std::pair<std::string_view, const char*> kPairs[] = {
      {"EQ", "NE"}, {"NE", "EQ"}, {"LT", "GE"}, {"GE", "LT"}, {"GT", "LE"}, {"LE", "GT"}};
  return std::find_if(std::begin(kPairs), std::end(kPairs), [&](auto& p) { return p.first == direction; })
      ->second;
}

// NaN makes both x < y and x >= y false.
bool has_opposite(C m) {
  bool unordered = !is_integral(m['x']->dtype()) && m['p']->attrs().text(Attr::type, "FLOAT") != "TOTALORDER";
  return !unordered || direction(m['p']) == "EQ" || direction(m['p']) == "NE";
}
Instruction* compare_opposite(M m) {
  Instruction* compare = m.compare(opposite(direction(m['p'])), m['x'], m['y']);
  if (m['p']->has(Attr::type)) compare->attrs().set(Attr::type, m['p']->attrs().text(Attr::type));
  return compare;
}

Instruction* compare_self(M m) {
  const std::string& d = direction(m.root());
  return m.splat(m.root()->shape(), d == "EQ" || d == "LE" || d == "GE");
}

bool compares_preds(C m, const char* how) { return is_pred(m['x']->dtype()) && direction(m.root()) == how; }

// Does every value of `from` exist in `to`?
bool embeds(DType from, DType to) {
  const DTypeInfo &f = info(from), &t = info(to);
  if (from == to || is_pred(from)) return is_array_dtype(to) && !(is_pred(from) && is_complex(to));
  if (is_integer(from) && is_integer(to))
    return (is_unsigned(from) && t.bits > f.bits) || (is_signed(from) && is_signed(to) && t.bits >= f.bits);
  if (is_integer(from) && is_float(to))
    return t.style == FloatStyle::kIeee && f.bits - is_signed(from) <= t.mantissa_bits + 1 &&
           f.bits < 1 << (t.exponent_bits - 1);
  // Wider in both; f16 and f64 hold all that the 8 and 4 bit kinds hold, infinities and NaN among them.
  if (is_float(from) && is_float(to))
    return t.style == FloatStyle::kIeee && t.exponent_bits > f.exponent_bits &&
           t.mantissa_bits >= f.mantissa_bits + (f.style != FloatStyle::kIeee);
  return false;
}
// f32 holds bf16 though their exponents are equally wide.
bool widens(DType from, DType to) {
  return (from == DType::kBF16 && (to == DType::kF32 || to == DType::kF64)) || embeds(from, to);
}
// Integers wrap on their way to narrower ones, but floats saturate.
bool middle_loses_nothing(C m) {
  const DType from = m['x']->dtype(), middle = m['y']->dtype(), to = m.dtype();
  if (is_integer(from) && is_float(middle) && is_integer(to) && !embeds(from, to)) return false;
  return widens(from, middle) && !(is_pred(from) && is_complex(to));
}
bool is_scalar_select(C m) { return m['p']->shape().is_scalar() || m['p']->dims() == m.dims(); }

bool keeps_layout(C m) {
  const auto &from = m['x']->shape().layout, &to = m.root()->shape().layout;
  return !from || !to || *from == *to;
}

const Pat p = any('p');
const Pat kConvert = of(Op::convert, {x});
const Pat kBits = of(Op::bitcast_convert, {x});

const Rule kRules[] = {
    {"not-compare", of(Op::not_, {as('p', of(Op::compare, {x, y}))}), compare_opposite, has_opposite},
    {"compare-self", of(Op::compare, {x, x}), compare_self, [](C m) { return is_integral(m['x']->dtype()); }},
    {"equals-true", of(Op::compare, {x, one}), x, [](C m) { return compares_preds(m, "EQ"); }},
    {"differs-from-false", of(Op::compare, {x, zero}), x, [](C m) { return compares_preds(m, "NE"); }},
    {"equals-false", of(Op::compare, {x, zero}), of(Op::not_, {x}),
     [](C m) { return compares_preds(m, "EQ"); }},
    {"select-same", of(Op::select, {p, x, x}), x},
    {"select-true", of(Op::select, {one, x, y}), x},
    {"select-false", of(Op::select, {zero, x, y}), y},
    {"select-not", of(Op::select, {of(Op::not_, {p}), x, y}), of(Op::select, {p, y, x})},
    {"select-of-preds", of(Op::select, {p, one, zero}), p,
     [](C m) { return is_pred(m.dtype()) && m['p']->dims() == m.dims(); }},
    {"select-of-preds-not", of(Op::select, {p, zero, one}), of(Op::not_, {p}),
     [](C m) { return is_pred(m.dtype()) && m['p']->dims() == m.dims(); }},
    {"select-inner", of(Op::select, {p, of(Op::select, {p, x, z}), y}), of(Op::select, {p, x, y}),
     is_scalar_select},
    {"convert-same", kConvert, x, [](C m) { return m['x']->dtype() == m.dtype(); }},
    {"convert-through-wider", of(Op::convert, {as('y', kConvert)}),
     [](M m) { return m.convert(m['x'], m.dtype()); }, middle_loses_nothing},
    {"bits-same", kBits, x, [](C m) { return m['x']->shape().compatible(m.root()->shape()); }},
    {"bits-of-bits", of(Op::bitcast_convert, {kBits}),
     [](M m) { return m.add(Op::bitcast_convert, m.root()->shape(), {m['x']}); },
     [](C m) { return bit_width(m['x']->dtype()) == bit_width(m.dtype()) && m['x']->dims() == m.dims(); }},
    {"copy", of(Op::copy, {x}), x, keeps_layout},
};

}  // namespace

std::span<const Rule> logic_rules() { return kRules; }

}  // namespace armillary
