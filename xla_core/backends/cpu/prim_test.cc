// Every elementwise op on every dtype, edge values against each other, through machine code and through the
// interpreter.
#include <bit>
#include <map>

#include "xla_core/backends/cpu/run_lowering.h"

namespace armillary::cpu {
namespace {

constexpr int kPerSide = 24;  // values on each side of a binary op

std::vector<DType> array_dtypes() {
  std::vector<DType> all;
  for (int i = 0; i < kNumDTypes; ++i)
    if (is_array_dtype(static_cast<DType>(i))) all.push_back(static_cast<DType>(i));
  return all;
}

// kPerSide values of a dtype, by index.
void set_value(Literal& x, int64_t i, int64_t which) {
  static const double floats[] = {0.0,
                                  -0.0,
                                  1,
                                  -1,
                                  0.5,
                                  -0.5,
                                  2,
                                  -2.5,
                                  1.5,
                                  3.25,
                                  -7,
                                  100,
                                  1e-3,
                                  1e4,
                                  -3e38,
                                  1e-40,
                                  5e-324,
                                  1e300,
                                  -1e19,
                                  4294967295.0,
                                  std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::quiet_NaN(),
                                  0.9999999};
  static const int64_t ints[] = {0,   1,     -1,     2,     -2,        3,         7,         8,
                                 15,  16,    31,     32,    63,        64,        127,       -128,
                                 255, 32767, -32768, 65535, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  static_assert(std::size(floats) == kPerSide && std::size(ints) == kPerSide);
  const DType d = x.dtype();
  if (is_complex(d)) {
    // Moderate values: the formulas of complex functions may differ in overflow.
    static const double parts[] = {0.0, 1, -1, 0.5, -2.5, 3};
    x.set_complex(i, {parts[which % 6], parts[(which / 4) % 6]});
  } else if (is_float(d)) {
    x.set_double(i, floats[which]);
  } else {
    x.set_int(i, ints[which]);
  }
}

Literal values(DType d, bool inner) {
  Literal x(Shape(d, {kPerSide, kPerSide}));
  for (int64_t i = 0; i < kPerSide; ++i)
    for (int64_t j = 0; j < kPerSide; ++j) set_value(x, i * kPerSide + j, inner ? j : i);
  return x;
}

// Units of the dtype's last place that machine code may be off.
double allowed_ulps(const Instruction& i) {
  static const std::map<Op, double> kLibrary = {{Op::exponential, 2}, {Op::exponential_minus_one, 2},
                                                {Op::log, 2},         {Op::log_plus_one, 2},
                                                {Op::sine, 2},        {Op::cosine, 2},
                                                {Op::tan, 2},         {Op::tanh, 2},
                                                {Op::erf, 2},         {Op::power, 2},
                                                {Op::atan2, 2},       {Op::asin, 2},
                                                {Op::acos, 2},        {Op::atan, 2},
                                                {Op::sinh, 2},        {Op::cosh, 2},
                                                {Op::asinh, 2},       {Op::acosh, 2},
                                                {Op::atanh, 2},       {Op::cbrt, 2},
                                                {Op::rsqrt, 2},       {Op::logistic, 4}};
  const auto found = kLibrary.find(i.op());
  const double base = found == kLibrary.end() ? 0 : found->second;
  return is_complex(i.operand(0)->dtype()) ? (base == 0 ? 4 : 64) : base;
}

double distance_in_ulps(DType d, double got, double want, double magnitude) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want) ? 0 : 1e9;
  if (got == want) return 0;
  const DTypeInfo& f = info(d);
  const int exponent = std::max(std::ilogb(std::max(std::abs(want), magnitude)), 1 - f.exponent_bias);
  return std::abs(got - want) / std::ldexp(1.0, exponent - f.mantissa_bits);
}

void expect_same(const Instruction& op, const Literal& got, const Literal& want,
                 const std::vector<Literal>& operands) {
  const double ulps = allowed_ulps(op);
  for (int64_t i = 0, bad = 0; i < got.size() && bad < 4; ++i) {
    bool same = true;
    if (is_complex(got.dtype())) {
      const auto g = got.get_complex(i), w = want.get_complex(i);
      const double size = std::isfinite(std::abs(w)) ? std::abs(w) : 0;
      const DType part = real_part_of(got.dtype());
      same = distance_in_ulps(part, g.real(), w.real(), size) <= ulps &&
             distance_in_ulps(part, g.imag(), w.imag(), size) <= ulps;
    } else if (is_float(got.dtype())) {
      const double g = got.get_double(i), w = want.get_double(i);
      same = distance_in_ulps(got.dtype(), g, w, 0) <= ulps &&
             (g != 0 || w != 0 || std::signbit(g) == std::signbit(w) ||
              !info(got.dtype()).has_nan);  // there a NaN becomes a zero of whatever sign
    } else {
      same = got.get_int(i) == want.get_int(i);
    }
    if (same) continue;
    ++bad;
    std::string arguments;
    for (const Literal& x : operands) arguments += element_to_string(x, i) + " ";
    ADD_FAILURE() << print(op) << " of " << arguments << "= " << element_to_string(got, i) << ", want "
                  << element_to_string(want, i);
  }
}

// Whether the row takes these dtypes.
bool check_op(Op op, const std::vector<DType>& dtypes, DType result, Attrs attrs = {}) {
  Module module("m");
  Computation* entry = module.add_computation("e");
  module.set_entry(entry);
  std::vector<Instruction*> parameters;
  std::vector<Literal> operands;
  for (size_t k = 0; k < dtypes.size(); ++k) {
    operands.push_back(values(dtypes[k], k == 0));
    parameters.push_back(entry->add_parameter(static_cast<int64_t>(k), operands.back().shape()));
  }
  Instruction* root = nullptr;
  try {
    const Shape stated(result, {kPerSide, kPerSide});
    root = result == DType::kInvalid ? entry->add(op, parameters, attrs)
                                     : entry->add(op, stated, parameters, attrs);
    entry->set_root(root);
    const auto storage = root->context_storage();
    const OpContext context = storage.context(root->attrs(), &root->shape());
    if (root->def().infer) root->def().infer(context);
    if (root->def().check) root->def().check(context);
  } catch (const Error&) {
    return false;
  }
  std::string why;
  EXPECT_TRUE(kernels::can_lower(*root, &why)) << why;
  expect_same(*root, run_lowering(*root, operands).at(0), evaluate(*entry, operands), operands);
  return true;
}

TEST(Prims, every_elementwise_op_agrees_with_the_interpreter_on_every_dtype) {
  int checked = 0;
  for (const OpDef& row : all_ops()) {
    if (row.meaning != Meaning::kScalar || !row.attrs.empty() || row.arity > 2) continue;
    for (DType d : array_dtypes())
      checked += check_op(row.op, std::vector<DType>(row.arity, d), DType::kInvalid);
  }
  EXPECT_GT(checked, 700);
}

TEST(Prims, every_dtype_converts_to_every_other_as_the_interpreter_says) {
  int checked = 0;
  for (DType from : array_dtypes())
    for (DType to : array_dtypes()) {
      checked += check_op(Op::convert, {from}, to);
      if (bit_width(from) == bit_width(to)) check_op(Op::bitcast_convert, {from}, to);
    }
  EXPECT_GT(checked, 600);
}

TEST(Prims, comparisons_agree_with_the_interpreter) {
  for (const char* direction : {"EQ", "NE", "LT", "LE", "GT", "GE"})
    for (DType d : array_dtypes())
      for (const char* type : {"", "TOTALORDER"}) {
        if (*type && !is_float(d)) continue;
        Attrs attrs;
        attrs.set(Attr::direction, std::string(direction));
        if (*type) attrs.set(Attr::type, std::string(type));
        check_op(Op::compare, {d, d}, DType::kInvalid, attrs);
      }
}

TEST(Prims, select_clamp_and_reduce_precision_agree_with_the_interpreter) {
  for (DType d : array_dtypes()) {
    check_op(Op::select, {DType::kPred, d, d}, DType::kInvalid);
    check_op(Op::clamp, {d, d, d}, DType::kInvalid);
    for (auto [e, m] : {std::pair(5, 10), {8, 7}, {4, 3}, {2, 0}}) {
      Attrs attrs;
      attrs.set(Attr::exponent_bits, int64_t{e});
      attrs.set(Attr::mantissa_bits, int64_t{m});
      check_op(Op::reduce_precision, {d}, DType::kInvalid, attrs);
    }
  }
}

}  // namespace
}  // namespace armillary::cpu
