// Float primitives. Types up to f32 compute in double and round once; f64 takes transcendental functions from
// long double.
#include <cmath>

#include "xla_core/base/error.h"
#include "xla_core/interp/tape_eval.h"

namespace armillary {
namespace {

// -0 is less than +0, and NaN wins: IEEE 754-2019 minimum and maximum.
double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

double sign(double x) { return std::isnan(x) || x == 0 ? x : x < 0 ? -1 : 1; }

template <class T>
T unary_function(Prim prim, T x) {
  switch (prim) {
    case Prim::kRsqrt:
      return T{1} / std::sqrt(x);
    case Prim::kCbrt:
      return std::cbrt(x);
    case Prim::kExp:
      return std::exp(x);
    case Prim::kExpm1:
      return std::expm1(x);
    case Prim::kLog:
      return std::log(x);
    case Prim::kLog1p:
      return std::log1p(x);
    case Prim::kSin:
      return std::sin(x);
    case Prim::kCos:
      return std::cos(x);
    case Prim::kTan:
      return std::tan(x);
    case Prim::kTanh:
      return std::tanh(x);
    case Prim::kErf:
      return std::erf(x);
    case Prim::kAsin:
      return std::asin(x);
    case Prim::kAcos:
      return std::acos(x);
    case Prim::kAtan:
      return std::atan(x);
    case Prim::kSinh:
      return std::sinh(x);
    case Prim::kCosh:
      return std::cosh(x);
    case Prim::kAsinh:
      return std::asinh(x);
    case Prim::kAcosh:
      return std::acosh(x);
    case Prim::kAtanh:
      return std::atanh(x);
    default:
      throw internal_error("no meaning for {} of floats", to_string(prim));
  }
}

}  // namespace

void run_float_primitive(const TapeNode& node, const Lane* a, const Lane* b, const Lane* c, int64_t count,
                         Lane* out) {
  const DType dtype = node.dtype;
  // Results that are exact need no rounding; they also keep every NaN's payload.
  auto exact = [&](auto fn) {
    for (int64_t k = 0; k < count; ++k) out[k].f = fn(k);
  };
  auto rounded = [&](auto fn) {
    if (dtype == DType::kF64)
      exact(fn);
    else if (dtype == DType::kF32)
      exact([&](int64_t k) { return static_cast<double>(static_cast<float>(fn(k))); });
    else
      exact([&](int64_t k) { return round_to(dtype, fn(k)); });
  };
  const bool wide = dtype == DType::kF64;
  using L = long double;
  switch (node.prim) {
    case Prim::kAdd:
      return rounded([&](int64_t k) { return a[k].f + b[k].f; });
    case Prim::kSub:
      return rounded([&](int64_t k) { return a[k].f - b[k].f; });
    case Prim::kMul:
      return rounded([&](int64_t k) { return a[k].f * b[k].f; });
    case Prim::kDiv:
      return rounded([&](int64_t k) { return a[k].f / b[k].f; });
    case Prim::kRem:
      return rounded([&](int64_t k) { return std::fmod(a[k].f, b[k].f); });
    case Prim::kSqrt:
      return rounded([&](int64_t k) { return std::sqrt(a[k].f); });
    case Prim::kFma:
      if (dtype == DType::kF64) return exact([&](int64_t k) { return std::fma(a[k].f, b[k].f, c[k].f); });
      return rounded([&](int64_t k) {
        return std::fma(static_cast<float>(a[k].f), static_cast<float>(b[k].f), static_cast<float>(c[k].f));
      });
    case Prim::kMin:
      return exact([&](int64_t k) { return minimum(a[k].f, b[k].f); });
    case Prim::kMax:
      return exact([&](int64_t k) { return maximum(a[k].f, b[k].f); });
    case Prim::kNeg:
      return exact([&](int64_t k) { return -a[k].f; });
    case Prim::kAbs:
      return exact([&](int64_t k) { return std::fabs(a[k].f); });
    case Prim::kSign:
      return exact([&](int64_t k) { return sign(a[k].f); });
    case Prim::kFloor:
      return exact([&](int64_t k) { return std::floor(a[k].f); });
    case Prim::kCeil:
      return exact([&](int64_t k) { return std::ceil(a[k].f); });
    case Prim::kTrunc:
      return exact([&](int64_t k) { return std::trunc(a[k].f); });
    case Prim::kRoundEven:
      return exact([&](int64_t k) { return std::nearbyint(a[k].f); });
    case Prim::kRoundAfz:
      return exact([&](int64_t k) { return std::round(a[k].f); });
    case Prim::kPow:
      if (wide) return exact([&](int64_t k) { return static_cast<double>(std::pow(L{a[k].f}, L{b[k].f})); });
      return rounded([&](int64_t k) { return std::pow(a[k].f, b[k].f); });
    case Prim::kAtan2:
      if (wide)
        return exact([&](int64_t k) { return static_cast<double>(std::atan2(L{a[k].f}, L{b[k].f})); });
      return rounded([&](int64_t k) { return std::atan2(a[k].f, b[k].f); });
    default:
      if (wide)
        return exact([&](int64_t k) { return static_cast<double>(unary_function(node.prim, L{a[k].f})); });
      return rounded([&](int64_t k) { return unary_function(node.prim, a[k].f); });
  }
}

}  // namespace armillary
