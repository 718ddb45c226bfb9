// The language of recipes: a straight-line program over real scalars, written once per op and read by
// everybody.
//
// A row's `scalar` or `index` recipe writes nodes onto a Tape through a TapeBuilder. Readers: the interpreter
// (evaluates it), kernels/ (puts loops around it), backends (emit machine code), analysis (counts flops).
// Nodes are real scalars only: a complex value is a pair of nodes, and the builder writes complex arithmetic
// out. Narrow floats (f16, bf16, f8, f4) appear only as operands of kConvert, kBitcast, load and store: the
// builder widens to f32, computes, and rounds after each operation, which is what HLO means. Sub-byte
// integers likewise wrap after each operation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "xla_core/shape/dtype.h"

namespace armillary {

enum class Prim : uint8_t {
  kArg,    // imm = argument number
  kConst,  // imm = the bits of the value, zero-extended to 64 (f32: 32 bits, pred: 0 or 1, s32: low 32 bits)
  kIndex,  // s64; imm = loop number: an output index dimension
  kLoad,   // element of operand `imm`; a = linear row-major index (s64); part = 0 re or whole, 1 im
  // Arithmetic, on pred/s8..s64/u8..u64/f32/f64; operand and result dtypes equal unless said. Meanings of
  // DESIGN 5.
  kAdd,
  kSub,
  kMul,
  kDiv,
  kRem,
  kMin,
  kMax,
  kNeg,
  kAbs,
  kSign,
  kAnd,
  kOr,
  kXor,
  kNot,
  kShl,
  kShrLogical,
  kShrArith,
  kPopcnt,
  kClz,
  kMulHi,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,       // -> pred; IEEE on floats (kNe is true on NaN, the others false)
  kSelect,   // a = pred, b, c
  kConvert,  // any real dtype to any: float->int saturates, NaN gives 0; int->int wraps; x->pred is x != 0
  kBitcast,  // same width
  // Floats only.
  kFma,
  kFloor,
  kCeil,
  kRoundEven,
  kRoundAfz,
  kTrunc,
  kSqrt,
  kRsqrt,
  kCbrt,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kSin,
  kCos,
  kTan,
  kTanh,
  kErf,
  kPow,
  kAtan2,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  // Structured control, only in kernels (see kernels/kernel.h), never in a row's recipe: the ids below are
  // reserved for it.
  kLoopBegin,
  kLoopEnd,
  kCarry,
  kLoopResult,
  kIfBegin,
  kElse,
  kIfEnd,
  kStore,
};

std::string_view to_string(Prim prim);

struct TapeNode {
  Prim prim;
  DType dtype;       // of the result
  uint8_t part = 0;  // kLoad / kStore: 0 re or whole, 1 im
  int32_t a = -1, b = -1, c = -1;
  int64_t imm = 0;
  friend bool operator==(const TapeNode&, const TapeNode&) = default;
};

struct Tape {
  std::vector<TapeNode> nodes;
};

// A value on the tape: one node, or two for complex. dtype is the HLO dtype (f16, c64, s4, ... allowed).
struct Val {
  int32_t re = -1, im = -1;
  DType dtype = DType::kInvalid;
  bool valid() const { return re >= 0; }
};

// Writes nodes; takes care of complex and narrow types; folds nothing but trivial index arithmetic on
// constants (x+0, x*1, const op const).
class TapeBuilder {
 public:
  explicit TapeBuilder(Tape& tape) : tape_(tape) {}
  virtual ~TapeBuilder() = default;
  Tape& tape() { return tape_; }

  // Leaves.
  virtual Val arg(int number, DType dtype);  // nodes kArg (complex: two, part 0 and 1)
  virtual Val load(int operand, DType dtype, std::span<const int64_t> dims,
                   std::span<const Val> index);  // index per dimension, s64; in range
  Val constant(DType dtype, double value);       // complex: imaginary part 0
  Val constant_int(DType dtype, int64_t value);
  Val index_const(int64_t value) { return constant_int(DType::kS64, value); }
  Val zero(DType d) { return constant(d, 0); }
  Val one(DType d) { return constant(d, 1); }

  // Arithmetic on any array dtype where it makes sense (HLO's meaning for pred: add = or, multiply = and, max
  // = or, min = and).
  Val add(Val x, Val y);
  Val sub(Val x, Val y);
  Val mul(Val x, Val y);
  Val div(Val x, Val y);
  Val rem(Val x, Val y);
  Val min(Val x, Val y);  // NaN propagates; complex: lexicographic
  Val max(Val x, Val y);
  Val neg(Val x);
  Val abs(Val x);   // complex -> real part dtype
  Val sign(Val x);  // float: NaN -> NaN, zero keeps its sign; complex: x / |x|, 0 -> 0
  Val bit_and(Val x, Val y);
  Val bit_or(Val x, Val y);
  Val bit_xor(Val x, Val y);
  Val bit_not(Val x);
  Val shl(Val x, Val y);
  Val shr_logical(Val x, Val y);
  Val shr_arith(Val x, Val y);
  Val popcnt(Val x);
  Val clz(Val x);
  Val mulhi(Val x, Val y);
  Val compare(Prim direction, Val x, Val y);        // -> pred; complex: kEq and kNe only
  Val compare_total(Prim direction, Val x, Val y);  // totalorder on floats
  Val select(Val pred, Val on_true, Val on_false);
  Val convert(Val x, DType to);  // complex -> real drops the imaginary part
  Val bitcast(Val x, DType to);  // same width
  Val real(Val x);
  Val imag(Val x);
  Val complex(Val re, Val im);
  Val fma(Val x, Val y, Val z);  // real floats
  Val floor(Val x);
  Val ceil(Val x);
  Val round_even(Val x);
  Val round_afz(Val x);
  Val trunc(Val x);
  Val is_finite(Val x);
  // Transcendental functions on real floats and, where HLO allows it, complex.
  Val sqrt(Val x);
  Val rsqrt(Val x);
  Val cbrt(Val x);
  Val exp(Val x);
  Val expm1(Val x);
  Val log(Val x);
  Val log1p(Val x);
  Val sin(Val x);
  Val cos(Val x);
  Val tan(Val x);
  Val tanh(Val x);
  Val erf(Val x);
  Val pow(Val x, Val y);
  Val atan2(Val y, Val x);
  Val asin(Val x);
  Val acos(Val x);
  Val atan(Val x);
  Val sinh(Val x);
  Val cosh(Val x);
  Val asinh(Val x);
  Val acosh(Val x);
  Val atanh(Val x);
  Val reduce_precision(Val x, int exponent_bits, int mantissa_bits);

  // Index helpers on s64.
  Val clamp_index(Val x, int64_t low, int64_t high);
  Val floor_div(Val x, int64_t divisor);  // x >= 0 is assumed
  Val mod(Val x, int64_t divisor);        // x >= 0 is assumed
  Val linear_index(std::span<const int64_t> dims, std::span<const Val> index);
  std::vector<Val> delinearize(Val linear, std::span<const int64_t> dims);

  virtual int32_t push(TapeNode node);  // for readers that build on a tape (kernels/)

 protected:
  Tape& tape_;

 private:
  int32_t unary(Prim prim, DType dtype, int32_t a);
  int32_t binary(Prim prim, DType dtype, int32_t a, int32_t b);
  Val real_unary(Prim prim, Val x);
  Val real_binary(Prim prim, Val x, Val y);
};

}  // namespace armillary
