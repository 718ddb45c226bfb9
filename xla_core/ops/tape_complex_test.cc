// Complex recipes against the C library's long double functions: within 3 ULP of each part, and right at the
// edges.
#include <gtest/gtest.h>

#include <complex>
#include <random>

#include "xla_core/ops/tiny_evaluator.h"

namespace armillary {
namespace {

using Exact = std::complex<long double>;
using Unary = Val (TapeBuilder::*)(Val);
using Binary = Val (TapeBuilder::*)(Val, Val);
const double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

std::complex<double> read(DType d, uint64_t re, uint64_t im) {
  const DType part = real_part_of(d);
  return {TinyEvaluator::as_double(part, re), TinyEvaluator::as_double(part, im)};
}

template <class F>
std::complex<double> evaluate(DType d, std::vector<std::complex<double>> arguments, F recipe) {
  Tape tape;
  TapeBuilder b(tape);
  TinyEvaluator evaluator;
  std::vector<Val> x;
  const DType part = real_part_of(d);
  for (size_t i = 0; i < arguments.size(); ++i) {
    x.push_back(b.arg(static_cast<int>(i), d));
    evaluator.args[static_cast<int>(i)] = {TinyEvaluator::from_double(part, arguments[i].real()),
                                           TinyEvaluator::from_double(part, arguments[i].imag())};
  }
  const Val result = recipe(b, x);
  const auto values = evaluator.run(tape);
  return read(d, values[result.re], result.im < 0 ? 0 : values[result.im]);
}
std::complex<double> call(DType d, Unary f, std::complex<double> z) {
  return evaluate(d, {z}, [&](auto& b, auto& x) { return (b.*f)(x[0]); });
}
std::complex<double> call(DType d, Binary f, std::complex<double> z, std::complex<double> w) {
  return evaluate(d, {z, w}, [&](auto& b, auto& x) { return (b.*f)(x[0], x[1]); });
}

// Distance in units of the last place of the expected value (of the type's parts).
double ulps(DType d, double got, long double want) {
  const double rounded = d == DType::kC64 ? static_cast<float>(want) : static_cast<double>(want);
  if (got == rounded || (std::isnan(got) && std::isnan(rounded))) return 0;
  if (!std::isfinite(got) || !std::isfinite(rounded)) return 1e9;
  const double unit = d == DType::kC64 ? std::max(std::ldexp(1.0, std::ilogb(rounded) - 23), 0x1p-149)
                                       : std::max(std::ldexp(1.0, std::ilogb(rounded) - 52), 0x1p-1074);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want)) / unit;
}

struct Case {
  std::string_view name;
  Unary recipe;
  Exact (*exact)(Exact);
  double ulps_c128;
};

Exact exact_log1p(Exact z) {  // z is not tiny here, and long double has 11 bits to lose
  return std::log(Exact(1 + z.real(), z.imag()));
}
Exact exact_expm1(Exact z) {
  const long double s = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * s * s, std::exp(z.real()) * std::sin(z.imag())};
}

const Case kCases[] = {
    {"exp", &TapeBuilder::exp, [](Exact z) { return std::exp(z); }, 3},
    {"expm1", &TapeBuilder::expm1, exact_expm1,
     1e4},  // where e^x cos y passes 1 the real part cancels; the whole stays accurate
    {"log", &TapeBuilder::log, [](Exact z) { return std::log(z); }, 3},
    {"log1p", &TapeBuilder::log1p, exact_log1p, 3},
    {"sqrt", &TapeBuilder::sqrt, [](Exact z) { return std::sqrt(z); }, 3},
    {"rsqrt", &TapeBuilder::rsqrt, [](Exact z) { return 1.0L / std::sqrt(z); }, 4},
    {"sin", &TapeBuilder::sin, [](Exact z) { return std::sin(z); }, 3},
    {"cos", &TapeBuilder::cos, [](Exact z) { return std::cos(z); }, 3},
    {"tan", &TapeBuilder::tan, [](Exact z) { return std::tan(z); }, 5},
    {"sinh", &TapeBuilder::sinh, [](Exact z) { return std::sinh(z); }, 3},
    {"cosh", &TapeBuilder::cosh, [](Exact z) { return std::cosh(z); }, 3},
    {"tanh", &TapeBuilder::tanh, [](Exact z) { return std::tanh(z); }, 5},
    {"asin", &TapeBuilder::asin, [](Exact z) { return std::asin(z); }, 8},
    {"acos", &TapeBuilder::acos, [](Exact z) { return std::acos(z); }, 8},
    {"atan", &TapeBuilder::atan, [](Exact z) { return std::atan(z); }, 8},
    {"asinh", &TapeBuilder::asinh, [](Exact z) { return std::asinh(z); }, 8},
    {"acosh", &TapeBuilder::acosh, [](Exact z) { return std::acosh(z); }, 8},
    {"atanh", &TapeBuilder::atanh, [](Exact z) { return std::atanh(z); }, 8},
};

TEST(ComplexTape, functions_stay_within_their_ulps_on_random_numbers) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, 3);
  for (const Case& c : kCases)
    for (DType d : {DType::kC64, DType::kC128}) {
      double worst = 0;
      std::complex<double> where;
      for (int i = 0; i < 3000; ++i) {
        std::complex<double> z(normal(random), normal(random));
        if (d == DType::kC64) z = {static_cast<float>(z.real()), static_cast<float>(z.imag())};
        const std::complex<double> got = call(d, c.recipe, z);
        const Exact want = c.exact(Exact(z.real(), z.imag()));
        const double off = std::max(ulps(d, got.real(), want.real()), ulps(d, got.imag(), want.imag()));
        if (off > worst) worst = off, where = z;
      }
      EXPECT_LE(worst, d == DType::kC64 ? 1.01 : c.ulps_c128)
          << c.name << " of " << to_string(d) << " at " << where << " (seed 7)";
    }
}

TEST(ComplexTape, log_does_not_cancel_near_the_unit_circle) {
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> angle(0.1, 1.4), shift(-1e-3, 1e-3);
  for (int i = 0; i < 2000; ++i) {
    const double t = angle(random), r = 1 + shift(random);
    const std::complex<double> z(r * std::cos(t), r * std::sin(t));
    const double got = call(DType::kC128, &TapeBuilder::log, z).real();
    const __float128 x = z.real(), y = z.imag();
    const long double norm = static_cast<long double>((x - 1) * (x + 1) + y * y);
    EXPECT_LE(ulps(DType::kC128, got, std::log1p(norm) / 2), 3) << z.real() << " " << z.imag();
  }
}

TEST(ComplexTape, products_and_quotients_are_those_of_the_field) {
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal(0, 2);
  for (int i = 0; i < 2000; ++i) {
    const std::complex<double> z(normal(random), normal(random)), w(normal(random), normal(random));
    const __float128 a = z.real(), b = z.imag(), c = w.real(), e = w.imag();
    const Exact want(static_cast<long double>((a * c + b * e) / (c * c + e * e)),
                     static_cast<long double>((b * c - a * e) / (c * c + e * e)));
    const std::complex<double> got = call(DType::kC128, &TapeBuilder::div, z, w);
    EXPECT_LE(
        std::max(ulps(DType::kC128, got.real(), want.real()), ulps(DType::kC128, got.imag(), want.imag())), 3)
        << z.real() << " " << z.imag();
  }
  const auto huge = call(DType::kC128, &TapeBuilder::div, {1e308, 1e308}, {1e308, 1e308});
  EXPECT_EQ(huge, (std::complex<double>(1, 0)));
  const auto tiny = call(DType::kC128, &TapeBuilder::div, {1e-300, 1e-300}, {1e-300, 1e-300});
  EXPECT_EQ(tiny, (std::complex<double>(1, 0)));
  EXPECT_EQ(call(DType::kC64, &TapeBuilder::div, {1, 1}, {0, 0}), (std::complex<double>(kInf, kInf)));
  EXPECT_EQ(call(DType::kC64, &TapeBuilder::div, {1, 1}, {kInf, 0}), (std::complex<double>(0, 0)));
}

TEST(ComplexTape, the_modulus_neither_overflows_nor_vanishes) {
  EXPECT_EQ(call(DType::kC128, &TapeBuilder::abs, {3e300, 4e300}).real(), 5e300);
  EXPECT_NEAR(call(DType::kC128, &TapeBuilder::abs, {3e-310, 4e-310}).real() / 5e-310, 1, 1e-12);
  EXPECT_EQ(call(DType::kC128, &TapeBuilder::abs, {0, 0}).real(), 0);
  for (DType d : {DType::kC64, DType::kC128}) {
    EXPECT_EQ(call(d, &TapeBuilder::abs, {-kInf, kNan}).real(), kInf);
    EXPECT_TRUE(std::isnan(call(d, &TapeBuilder::abs, {1, kNan}).real()));
  }
}

TEST(ComplexTape, edge_values_are_those_of_the_c_library) {
  for (DType d : {DType::kC64, DType::kC128}) {
    EXPECT_EQ(call(d, &TapeBuilder::exp, {-kInf, 1}), (std::complex<double>(0, 0)));
    EXPECT_EQ(call(d, &TapeBuilder::exp, {2, 0}).imag(), 0);
    EXPECT_EQ(call(d, &TapeBuilder::log, {0, 0}).real(), -kInf);
    EXPECT_EQ(call(d, &TapeBuilder::sqrt, {0, 0}), (std::complex<double>(0, 0)));
    EXPECT_EQ(call(d, &TapeBuilder::sqrt, {-4, 0}), (std::complex<double>(0, 2)));
    EXPECT_EQ(call(d, &TapeBuilder::sqrt, {-4, -0.0}), (std::complex<double>(0, -2)));
    EXPECT_EQ(call(d, &TapeBuilder::sqrt, {kNan, kInf}), (std::complex<double>(kInf, kInf)));
    EXPECT_EQ(call(d, &TapeBuilder::tanh, {1000, 1}).real(), 1);
    EXPECT_EQ(call(d, &TapeBuilder::tanh, {-kInf, 1}).real(), -1);
    EXPECT_TRUE(std::isnan(call(d, &TapeBuilder::tanh, {kNan, 0}).real()));
    EXPECT_EQ(call(d, &TapeBuilder::tanh, {kNan, 0}).imag(), 0);
    EXPECT_EQ(call(d, &TapeBuilder::atanh, {1, 0}).real(), kInf);
    EXPECT_EQ(call(d, &TapeBuilder::sign, {0, 0}), (std::complex<double>(0, 0)));
  }
  const auto big =
      call(DType::kC128, &TapeBuilder::exp, {709.9, 1.5});  // e^709.9 alone is beyond f64, the parts are not
  const Exact want = std::exp(Exact(709.9, 1.5));
  EXPECT_LE(ulps(DType::kC128, big.real(), want.real()), 1000);
  EXPECT_TRUE(std::isfinite(call(DType::kC128, &TapeBuilder::sqrt, {1.7e308, 1.7e308}).real()));
}

// Where XLA's expansions leave no number, neither do we, though C would give some of them a part.
TEST(ComplexTape, infinity_without_a_direction_is_no_number) {
  for (DType d : {DType::kC64, DType::kC128})
    for (double im : {kInf, -kInf, kNan}) {
      auto expect_lost = [&](Unary f, std::complex<double> z) {
        EXPECT_TRUE(std::isnan(call(d, f, z).real()) && std::isnan(call(d, f, z).imag())) << z;
      };
      for (double re : {kInf, -kInf})
        for (Unary f : {&TapeBuilder::expm1, &TapeBuilder::cosh, &TapeBuilder::sinh})
          expect_lost(f, {re, im});
      expect_lost(&TapeBuilder::tanh, {-1e30, im});
      expect_lost(&TapeBuilder::tan, {im, 1e30});
      EXPECT_EQ(call(d, &TapeBuilder::tanh, {-kInf, im}).real(), -1);
    }
}

TEST(ComplexTape, powers_know_zero_and_agree_with_the_c_library) {
  for (DType d : {DType::kC64, DType::kC128}) {
    EXPECT_EQ(call(d, &TapeBuilder::pow, {0, 0}, {0, 0}), (std::complex<double>(1, 0)));
    EXPECT_EQ(call(d, &TapeBuilder::pow, {0, 0}, {2, 1}), (std::complex<double>(0, 0)));
    EXPECT_EQ(call(d, &TapeBuilder::pow, {2, 0}, {3, 0}), (std::complex<double>(8, 0)));
  }
  std::mt19937_64 random(10);
  std::normal_distribution<double> normal(0, 1.5);
  for (int i = 0; i < 1000; ++i) {
    const std::complex<double> z(normal(random), normal(random)), w(normal(random), normal(random));
    const Exact want = std::pow(Exact(z.real(), z.imag()), Exact(w.real(), w.imag()));
    const std::complex<double> got = call(DType::kC128, &TapeBuilder::pow, z, w);
    EXPECT_LE(std::abs(std::complex<double>(got.real() - static_cast<double>(want.real()),
                                            got.imag() - static_cast<double>(want.imag()))),
              2e-15 * static_cast<double>(std::abs(want)));
  }
}

TEST(ComplexTape, order_is_lexicographic) {
  using C = std::complex<double>;
  EXPECT_EQ(call(DType::kC64, &TapeBuilder::max, C(1, 5), C(2, 0)), C(2, 0));
  EXPECT_EQ(call(DType::kC64, &TapeBuilder::max, C(1, 5), C(1, 6)), C(1, 6));
  EXPECT_EQ(call(DType::kC64, &TapeBuilder::min, C(1, 5), C(1, 6)), C(1, 5));
}

}  // namespace
}  // namespace armillary
