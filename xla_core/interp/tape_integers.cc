// Integer and pred primitives: computed in 64 bits, wrapped to the node's width. DESIGN's meaning of division
// and shifts.
#include <bit>

#include "xla_core/base/error.h"
#include "xla_core/interp/tape_eval.h"

namespace armillary {
namespace {

using U = uint64_t;

// Most divisions are of small indices, and a 32-bit division costs a fraction of a 64-bit one.
bool is_small(int64_t a, int64_t b) { return ((static_cast<U>(a) | static_cast<U>(b)) >> 32) == 0; }

int64_t divide(int64_t a, int64_t b) {
  if (b == 0) return -1;
  if (is_small(a, b)) return static_cast<uint32_t>(a) / static_cast<uint32_t>(b);
  return b == -1 ? static_cast<int64_t>(-static_cast<U>(a)) : a / b;
}
int64_t remainder(int64_t a, int64_t b) {
  if (b == 0) return a;
  if (is_small(a, b)) return static_cast<uint32_t>(a) % static_cast<uint32_t>(b);
  return b == -1 ? 0 : a % b;
}

int64_t mulhi(DType dtype, int64_t a, int64_t b) {
  if (is_signed(dtype)) return static_cast<int64_t>((static_cast<__int128>(a) * b) >> bit_width(dtype));
  return static_cast<int64_t>((static_cast<unsigned __int128>(static_cast<U>(a)) * static_cast<U>(b)) >>
                              bit_width(dtype));
}

}  // namespace

void run_integer_primitive(const TapeNode& node, const Lane* a, const Lane* b, int64_t count, Lane* out) {
  const DType dtype = node.dtype;
  const int bits = bit_width(dtype);
  const bool is_signed_type = is_signed(dtype);
  const U mask = bits == 64 ? ~U{0} : (U{1} << bits) - 1;
  const Wrapper wrap(dtype);
  auto unary = [&](auto fn) {
    for (int64_t k = 0; k < count; ++k) out[k].i = wrap(static_cast<U>(fn(a[k].i)));
  };
  auto binary = [&](auto fn) {
    for (int64_t k = 0; k < count; ++k) out[k].i = wrap(static_cast<U>(fn(a[k].i, b[k].i)));
  };
  // fn on values of the right signedness.
  auto ordered = [&](auto fn) {
    if (is_signed_type)
      binary([&](int64_t x, int64_t y) { return fn(x, y); });
    else
      binary([&](int64_t x, int64_t y) { return fn(static_cast<U>(x), static_cast<U>(y)); });
  };
  auto is_too_far = [&](int64_t shift) { return (static_cast<U>(shift) & mask) >= static_cast<U>(bits); };
  switch (node.prim) {
    case Prim::kAdd:
      return binary([](U x, U y) { return x + y; });
    case Prim::kSub:
      return binary([](U x, U y) { return x - y; });
    case Prim::kMul:
      return binary([](U x, U y) { return x * y; });
    case Prim::kDiv:
      if (is_signed_type) return binary(divide);
      return binary([](U x, U y) { return y == 0 ? ~U{0} : x / y; });
    case Prim::kRem:
      if (is_signed_type) return binary(remainder);
      return binary([](U x, U y) { return y == 0 ? x : x % y; });
    case Prim::kMin:
      return ordered([](auto x, auto y) { return x < y ? x : y; });
    case Prim::kMax:
      return ordered([](auto x, auto y) { return x > y ? x : y; });
    case Prim::kNeg:
      return unary([](U x) { return -x; });
    case Prim::kAbs:
      return unary(
          [&](int64_t x) { return is_signed_type && x < 0 ? -static_cast<U>(x) : static_cast<U>(x); });
    case Prim::kSign:
      return unary([&](int64_t x) { return is_signed_type ? (x > 0) - (x < 0) : x != 0; });
    case Prim::kAnd:
      return binary([](U x, U y) { return x & y; });
    case Prim::kOr:
      return binary([](U x, U y) { return x | y; });
    case Prim::kXor:
      return binary([](U x, U y) { return x ^ y; });
    case Prim::kNot:
      return unary([](U x) { return ~x; });
    case Prim::kShl:
      return binary([&](int64_t x, int64_t s) {
        return is_too_far(s) ? U{0} : static_cast<U>(x) << (static_cast<U>(s) & mask);
      });
    case Prim::kShrLogical:
      return binary([&](int64_t x, int64_t s) {
        return is_too_far(s) ? U{0} : (static_cast<U>(x) & mask) >> (static_cast<U>(s) & mask);
      });
    case Prim::kShrArith:
      return binary([&](int64_t x, int64_t s) {
        const int64_t value =
            is_signed_type ? x : static_cast<int64_t>(static_cast<U>(x) << (64 - bits)) >> (64 - bits);
        return value >> (is_too_far(s) ? 63 : static_cast<int64_t>(static_cast<U>(s) & mask));
      });
    case Prim::kPopcnt:
      return unary([&](U x) { return std::popcount(x & mask); });
    case Prim::kClz:
      return unary([&](U x) { return std::countl_zero(x & mask) - (64 - bits); });
    case Prim::kMulHi:
      return binary([&](int64_t x, int64_t y) { return mulhi(dtype, x, y); });
    default:
      throw internal_error("no meaning for {} of {}", to_string(node.prim), to_string(dtype));
  }
}

}  // namespace armillary
