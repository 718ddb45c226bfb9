// The primitives on lanes that mix types: comparisons, select, conversions, bit casts; and the fork to floats
// and integers.
#include <cmath>
#include <cstring>
#include <limits>

#include "xla_core/base/error.h"
#include "xla_core/interp/tape_eval.h"

namespace armillary {
namespace {

template <class T>
bool holds(Prim prim, T a, T b) {
  switch (prim) {
    case Prim::kEq:
      return a == b;
    case Prim::kNe:
      return a != b;
    case Prim::kLt:
      return a < b;
    case Prim::kLe:
      return a <= b;
    case Prim::kGt:
      return a > b;
    default:
      return a >= b;
  }
}

void compare(Prim prim, DType from, const Lane* a, const Lane* b, int64_t count, Lane* out) {
  if (is_float(from)) {
    for (int64_t k = 0; k < count; ++k) out[k].i = holds(prim, a[k].f, b[k].f);
  } else if (from == DType::kU64) {
    for (int64_t k = 0; k < count; ++k)
      out[k].i = holds(prim, static_cast<uint64_t>(a[k].i), static_cast<uint64_t>(b[k].i));
  } else {
    for (int64_t k = 0; k < count; ++k) out[k].i = holds(prim, a[k].i, b[k].i);
  }
}

// Saturates; NaN gives 0.
int64_t float_to_int(DType to, double value) {
  if (std::isnan(value)) return 0;
  const int bits = bit_width(to);
  if (is_signed(to)) {
    const double limit = std::ldexp(1.0, bits - 1);
    const int64_t max = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
    return value >= limit ? max : value <= -limit ? -max - 1 : static_cast<int64_t>(value);
  }
  if (value <= 0) return 0;
  if (value >= std::ldexp(1.0, bits)) return wrap_to(to, -1);
  return static_cast<int64_t>(static_cast<uint64_t>(value));
}

// Rounded once: a double on the way to a narrower float keeps a sticky bit, so the second rounding sees what
// the first dropped.
double int_to_float(DType from, DType to, int64_t value) {
  const bool is_big = from == DType::kU64 && value < 0;
  double wide = is_big ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
  if (to == DType::kF64) return wide;
  if (to == DType::kF32)
    return is_big ? static_cast<float>(static_cast<uint64_t>(value)) : static_cast<float>(value);
  const uint64_t magnitude =
      is_big || value >= 0 ? static_cast<uint64_t>(value) : -static_cast<uint64_t>(value);
  if (magnitude >> 53) {
    const uint64_t sticky = (magnitude >> 11 << 11) | uint64_t{(magnitude & 0x7ff) != 0} << 11;
    wide = static_cast<double>(sticky) * (wide < 0 ? -1 : 1);
  }
  return round_to(to, wide);
}

void convert(DType from, DType to, const Lane* a, int64_t count, Lane* out) {
  auto all = [&](auto fn) {
    for (int64_t k = 0; k < count; ++k) fn(a[k], out[k]);
  };
  if (is_pred(to)) {
    if (is_float(from)) return all([](Lane x, Lane& y) { y.i = x.f != 0; });
    return all([](Lane x, Lane& y) { y.i = x.i != 0; });
  }
  if (is_float(to)) {
    if (!is_float(from)) return all([&](Lane x, Lane& y) { y.f = int_to_float(from, to, x.i); });
    if (to == DType::kF64 || (to == DType::kF32 && from != DType::kF64))
      return all([](Lane x, Lane& y) { y.f = x.f; });
    return all([&](Lane x, Lane& y) { y.f = round_to(to, x.f); });
  }
  if (is_float(from)) return all([&](Lane x, Lane& y) { y.i = float_to_int(to, x.f); });
  const Wrapper wrap(to);
  all([&](Lane x, Lane& y) { y.i = wrap(static_cast<uint64_t>(x.i)); });
}

}  // namespace

void run_primitive(const TapeNode& node, DType from, const Lane* a, const Lane* b, const Lane* c,
                   int64_t count, Lane* out) {
  switch (node.prim) {
    case Prim::kEq:
    case Prim::kNe:
    case Prim::kLt:
    case Prim::kLe:
    case Prim::kGt:
    case Prim::kGe:
      return compare(node.prim, from, a, b, count, out);
    case Prim::kSelect:
      for (int64_t k = 0; k < count; ++k) out[k] = a[k].i ? b[k] : c[k];
      return;
    case Prim::kConvert:
      return convert(from, node.dtype, a, count, out);
    case Prim::kBitcast:
      for (int64_t k = 0; k < count; ++k) out[k] = lane_of_bits(node.dtype, lane_bits(from, a[k]));
      return;
    default:
      break;
  }
  if (is_float(node.dtype)) return run_float_primitive(node, a, b, c, count, out);
  if (is_integral(node.dtype)) return run_integer_primitive(node, a, b, count, out);
  throw internal_error("no meaning for {} of {}", to_string(node.prim), to_string(node.dtype));
}

}  // namespace armillary
