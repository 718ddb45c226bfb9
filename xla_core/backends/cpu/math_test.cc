// The math functions as machine code, against the C library in long double: at most 2 ulp, special values
// exact.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "xla_core/backends/cpu/jit.h"
#include "xla_core/kernels/builder.h"

namespace armillary::cpu {
namespace {

using Unary = long double (*)(long double);
using Emit = Val (TapeBuilder::*)(Val);

struct Function {
  const char* name;
  Emit emit;
  Unary exact;
};

long double rsqrt_exact(long double x) { return 1 / sqrtl(x); }

const Function kFunctions[] = {
    {"exp", &TapeBuilder::exp, expl},       {"expm1", &TapeBuilder::expm1, expm1l},
    {"log", &TapeBuilder::log, logl},       {"log1p", &TapeBuilder::log1p, log1pl},
    {"sin", &TapeBuilder::sin, sinl},       {"cos", &TapeBuilder::cos, cosl},
    {"tan", &TapeBuilder::tan, tanl},       {"tanh", &TapeBuilder::tanh, tanhl},
    {"erf", &TapeBuilder::erf, erfl},       {"asin", &TapeBuilder::asin, asinl},
    {"acos", &TapeBuilder::acos, acosl},    {"atan", &TapeBuilder::atan, atanl},
    {"sinh", &TapeBuilder::sinh, sinhl},    {"cosh", &TapeBuilder::cosh, coshl},
    {"asinh", &TapeBuilder::asinh, asinhl}, {"acosh", &TapeBuilder::acosh, acoshl},
    {"atanh", &TapeBuilder::atanh, atanhl}, {"cbrt", &TapeBuilder::cbrt, cbrtl},
    {"sqrt", &TapeBuilder::sqrt, sqrtl},    {"rsqrt", &TapeBuilder::rsqrt, rsqrt_exact},
};

Jit& jit() {
  static Jit j;
  return j;
}

std::vector<float> run(const std::function<Val(TapeBuilder&, Val, Val)>& body, const std::vector<float>& x,
                       const std::vector<float>& y) {
  Kernel k;
  k.name = "math";
  kernels::KernelBuilder b(k);
  const int64_t n = static_cast<int64_t>(x.size());
  for (bool written : {false, false, true}) b.add_buffer(DType::kF32, n, written);
  b.lane_loop(n, [&](Val i) { b.store_at(2, i, body(b, b.load_at(0, i), b.load_at(1, i))); });
  k.work_per_iteration = 1e9;
  const auto f = jit().compile(std::span(&k, 1));
  std::vector<float> out(x.size());
  auto bytes = [](const std::vector<float>& v) {
    return const_cast<std::byte*>(reinterpret_cast<const std::byte*>(v.data()));
  };
  std::byte* buffers[] = {bytes(x), bytes(y), bytes(out)};
  f[0](buffers, 0, 1);
  return out;
}

// In units of the last place of the exact value's neighbourhood in f32.
double ulps(float got, long double want) {
  const float nearest = static_cast<float>(want);
  if (std::isnan(nearest) || std::isnan(got)) return std::isnan(nearest) && std::isnan(got) ? 0 : 1e9;
  if (std::isinf(nearest) || std::isinf(got)) {
    if (nearest == got) return 0;
    // The largest number for what is just beyond it, and the other way round.
    return std::abs(nearest) == std::numeric_limits<float>::max() ||
                   std::abs(got) == std::numeric_limits<float>::max()
               ? 1
               : 1e9;
  }
  if (nearest == 0 && got == 0) return want == 0 && std::signbit(got) != std::signbit(want) ? 1e9 : 0;
  const int exponent =
      std::max(std::ilogb(nearest == 0 ? std::numeric_limits<float>::denorm_min() : nearest), -126);
  return static_cast<double>(fabsl(static_cast<long double>(got) - want) / ldexpl(1, exponent - 23));
}

// Every sign and exponent with many significands, and what lies around the thresholds.
std::vector<float> samples(int per_exponent) {
  std::vector<float> x;
  uint64_t state = 88172645463325252u;
  for (uint32_t top = 0; top < 512; ++top)
    for (int i = 0; i < per_exponent; ++i) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      uint32_t low = static_cast<uint32_t>(state >> 20) & 0x7fffff;
      if (i < 3) low = i == 0 ? 0 : i == 1 ? 1 : 0x7fffff;
      x.push_back(std::bit_cast<float>((top << 23) | low));
    }
  for (double t : {0.01, 0.3, 0.4142135, 0.64, 0.9, 1.0, 2.4142135, 4.0, 9.0, 88.72, 89.0, 1e9, 1.5707963,
                   3.1415926, 87.33, 103.97, 0.5})
    for (int i = -50; i <= 50; ++i)
      for (float sign : {1.f, -1.f})
        x.push_back(sign * std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(t)) + i));
  return x;
}

TEST(Math, one_argument_functions_are_within_two_ulp_over_the_whole_range) {
  const std::vector<float> x = samples(2000);
  for (const Function& f : kFunctions) {
    const std::vector<float> y = run([&](TapeBuilder& b, Val v, Val) { return (b.*f.emit)(v); }, x, x);
    double worst = 0;
    float where = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double e = ulps(y[i], f.exact(x[i]));
      if (e > worst) worst = e, where = x[i];
    }
    std::printf("%-6s %.3f ulp at %a\n", f.name, worst, where);
    EXPECT_LE(worst, 2.0) << f.name << " at " << where;
  }
}

TEST(Math, power_and_atan2_are_within_two_ulp) {
  const std::vector<float> base = samples(40);
  std::vector<float> x, y;
  uint64_t state = 1234567;
  for (int round = 0; round < 6; ++round)
    for (float v : base) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      const float other = base[state % base.size()];
      x.push_back(v);
      switch (round) {
        case 0:
          y.push_back(other);
          break;
        case 1:
          y.push_back(static_cast<float>(static_cast<int>(state % 41) - 20));
          break;
        case 2:
          y.push_back(80 / std::log(std::abs(v)) * (static_cast<float>(state % 2000) / 1000 - 1));
          break;
        case 3:
          y.push_back(v * std::ldexp(1.f, static_cast<int>(state % 20) - 10));
          break;
        case 4:
          y.push_back(std::copysign(0.f, other));
          break;
        default:
          y.push_back(state & 1 ? std::numeric_limits<float>::infinity()
                                : -std::numeric_limits<float>::infinity());
      }
    }
  const auto power = run([](TapeBuilder& b, Val v, Val w) { return b.pow(v, w); }, x, y);
  const auto angle = run([](TapeBuilder& b, Val v, Val w) { return b.atan2(v, w); }, x, y);
  double worst_power = 0, worst_angle = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double p = ulps(power[i], powl(x[i], y[i])), a = ulps(angle[i], atan2l(x[i], y[i]));
    ASSERT_LE(p, 2.0) << "pow(" << x[i] << ", " << y[i] << ") = " << power[i];
    ASSERT_LE(a, 2.0) << "atan2(" << x[i] << ", " << y[i] << ") = " << angle[i];
    worst_power = std::max(worst_power, p), worst_angle = std::max(worst_angle, a);
  }
  std::printf("pow    %.3f ulp\natan2  %.3f ulp\n", worst_power, worst_angle);
}

}  // namespace
}  // namespace armillary::cpu
