// Runs a tape for the tests of this room: one node after another, values as bits. Arguments and operands are
// given as bits too.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

#include "xla_core/base/error.h"
#include "xla_core/ops/tape.h"
#include "xla_core/shape/literal.h"

namespace armillary {

class TinyEvaluator {
 public:
  using Bits = uint64_t;
  std::map<int, std::vector<Bits>> args;                           // number -> parts
  std::function<Bits(int operand, int64_t at, int part)> element;  // for kLoad
  std::vector<int64_t> index;                                      // for kIndex

  std::vector<Bits> run(const Tape& tape) {
    std::vector<Bits> v;
    for (const TapeNode& n : tape.nodes) v.push_back(step(tape, n, v));
    return v;
  }

  static double as_double(DType d, Bits bits) {
    if (is_integral(d))
      return is_signed(d) ? static_cast<double>(as_signed(d, bits)) : static_cast<double>(bits);
    return decode_float(d, bits);
  }
  static Bits from_double(DType d, double value) {
    if (d == DType::kF64) return std::bit_cast<Bits>(value);
    if (d == DType::kF32) return std::bit_cast<uint32_t>(static_cast<float>(value));
    return encode_float(d, value);
  }
  static int64_t as_signed(DType d, Bits bits) {
    const int shift = 64 - bit_width(d);
    return static_cast<int64_t>(bits << shift) >> shift;
  }
  static Bits wrap(DType d, Bits bits) {
    return bit_width(d) == 64 ? bits : bits & ((Bits{1} << bit_width(d)) - 1);
  }

 private:
  Bits step(const Tape& tape, const TapeNode& n, const std::vector<Bits>& v) {
    const DType from = n.a >= 0 ? tape.nodes[n.a].dtype : n.dtype;
    const Bits a = n.a >= 0 ? v[n.a] : 0, b = n.b >= 0 ? v[n.b] : 0, c = n.c >= 0 ? v[n.c] : 0;
    switch (n.prim) {
      case Prim::kArg:
        return args.at(static_cast<int>(n.imm))[n.part];
      case Prim::kConst:
        return static_cast<Bits>(n.imm);
      case Prim::kIndex:
        return static_cast<Bits>(index.at(n.imm));
      case Prim::kLoad:
        return element(static_cast<int>(n.imm), static_cast<int64_t>(a), n.part);
      case Prim::kSelect:
        return a ? b : c;
      case Prim::kBitcast:
        return a;
      case Prim::kConvert:
        return convert(from, n.dtype, a);
      case Prim::kEq:
      case Prim::kNe:
      case Prim::kLt:
      case Prim::kLe:
      case Prim::kGt:
      case Prim::kGe:
        return compare(n.prim, from, a, b);
      default:
        break;
    }
    if (from != n.dtype)
      throw internal_error("{} gives {} from {}", to_string(n.prim), to_string(n.dtype), to_string(from));
    if (n.dtype == DType::kF32)
      return std::bit_cast<uint32_t>(real<float>(n.prim, load<float>(a), load<float>(b), load<float>(c)));
    if (n.dtype == DType::kF64)
      return std::bit_cast<Bits>(real<double>(n.prim, load<double>(a), load<double>(b), load<double>(c)));
    if (is_float(n.dtype) || (is_integer(n.dtype) && bit_width(n.dtype) < 8))
      throw internal_error("{} on {}", to_string(n.prim), to_string(n.dtype));
    return wrap(n.dtype, integer(n.prim, n.dtype, a, b));
  }

  template <class T>
  static T load(Bits bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  static Bits convert(DType from, DType to, Bits a) {
    if (is_pred(to)) return is_integral(from) ? a != 0 : as_double(from, a) != 0;
    if (is_integral(from) && is_integer(to))
      return wrap(to, is_signed(from) ? static_cast<Bits>(as_signed(from, a)) : a);
    if (!is_integer(to)) return from_double(to, as_double(from, a));
    const double x = as_double(from, a);
    if (std::isnan(x)) return 0;
    const int bits = bit_width(to);
    const double high = std::ldexp(1.0, is_signed(to) ? bits - 1 : bits), low = is_signed(to) ? -high : 0;
    if (x >= high) return wrap(to, is_signed(to) ? (Bits{1} << (bits - 1)) - 1 : ~Bits{0});
    if (x <= low) return wrap(to, is_signed(to) ? Bits{1} << (bits - 1) : 0);
    return wrap(to, is_signed(to) ? static_cast<Bits>(static_cast<int64_t>(x)) : static_cast<Bits>(x));
  }

  template <class T>
  static bool holds(Prim p, T x, T y) {
    switch (p) {
      case Prim::kEq:
        return x == y;
      case Prim::kNe:
        return x != y;
      case Prim::kLt:
        return x < y;
      case Prim::kLe:
        return x <= y;
      case Prim::kGt:
        return x > y;
      default:
        return x >= y;
    }
  }
  static Bits compare(Prim p, DType d, Bits a, Bits b) {
    if (is_float(d)) return holds(p, as_double(d, a), as_double(d, b));
    return is_signed(d) ? holds(p, as_signed(d, a), as_signed(d, b)) : holds(p, a, b);
  }

  template <class T>
  static T real(Prim p, T x, T y, T z) {
    switch (p) {
      case Prim::kAdd:
        return x + y;
      case Prim::kSub:
        return x - y;
      case Prim::kMul:
        return x * y;
      case Prim::kDiv:
        return x / y;
      case Prim::kRem:
        return std::fmod(x, y);
      case Prim::kMin:
        return std::isnan(x) ? x : std::isnan(y) ? y : std::min(x, y);
      case Prim::kMax:
        return std::isnan(x) ? x : std::isnan(y) ? y : std::max(x, y);
      case Prim::kNeg:
        return -x;
      case Prim::kAbs:
        return std::fabs(x);
      case Prim::kSign:
        return x > 0 ? T(1) : x < 0 ? T(-1) : x;
      case Prim::kFma:
        return std::fma(x, y, z);
      case Prim::kFloor:
        return std::floor(x);
      case Prim::kCeil:
        return std::ceil(x);
      case Prim::kRoundEven:
        return std::nearbyint(x);
      case Prim::kRoundAfz:
        return std::round(x);
      case Prim::kTrunc:
        return std::trunc(x);
      case Prim::kSqrt:
        return std::sqrt(x);
      case Prim::kRsqrt:
        return 1 / std::sqrt(x);
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
      case Prim::kPow:
        return std::pow(x, y);
      case Prim::kAtan2:
        return std::atan2(x, y);
      case Prim::kSinh:
        return std::sinh(x);
      case Prim::kCosh:
        return std::cosh(x);
      case Prim::kAsinh:
        return std::asinh(x);
      default:
        throw internal_error("{} is not evaluated here", to_string(p));
    }
  }

  static Bits integer(Prim p, DType d, Bits a, Bits b) {
    const int width = is_pred(d) ? 1 : bit_width(d);
    const int64_t x = as_signed(d, a), y = as_signed(d, b);
    const bool sign = is_signed(d), least = sign && x == as_signed(d, Bits{1} << (width - 1)) && y == -1;
    switch (p) {
      case Prim::kAdd:
        return a + b;
      case Prim::kSub:
        return a - b;
      case Prim::kMul:
        return a * b;
      case Prim::kDiv:
        return b == 0 ? ~Bits{0} : least ? a : sign ? static_cast<Bits>(x / y) : a / b;
      case Prim::kRem:
        return b == 0 ? a : least ? 0 : sign ? static_cast<Bits>(x % y) : a % b;
      case Prim::kMin:
        return (sign ? x < y : a < b) ? a : b;
      case Prim::kMax:
        return (sign ? x < y : a < b) ? b : a;
      case Prim::kNeg:
        return -a;
      case Prim::kAbs:
        return x < 0 ? -a : a;
      case Prim::kSign:
        return sign ? (x > 0) - (x < 0) : a != 0;
      case Prim::kAnd:
        return a & b;
      case Prim::kOr:
        return a | b;
      case Prim::kXor:
        return a ^ b;
      case Prim::kNot:
        return ~a;
      case Prim::kShl:
        return b >= static_cast<Bits>(width) ? 0 : a << b;
      case Prim::kShrLogical:
        return b >= static_cast<Bits>(width) ? 0 : a >> b;
      case Prim::kShrArith:
        return static_cast<Bits>(x >> std::min<Bits>(b, width - 1));
      case Prim::kPopcnt:
        return std::popcount(a);
      case Prim::kClz:
        return std::countl_zero(a) - (64 - width);
      case Prim::kMulHi:
        return sign ? static_cast<Bits>(static_cast<__int128>(x) * y >> width)
                    : static_cast<Bits>(static_cast<unsigned __int128>(a) * b >> width);
      default:
        throw internal_error("{} is not evaluated here", to_string(p));
    }
  }
};

}  // namespace armillary
