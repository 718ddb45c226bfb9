// Arithmetic of the tape as LLVM IR, with the meanings of the design: guarded division, shifts by any amount,
// NaN through min and max.
#include <llvm/IR/Intrinsics.h>

#include "xla_core/backends/cpu/emitter.h"
#include "xla_core/base/error.h"

namespace armillary::cpu {
namespace {

using llvm::Intrinsic::ID;

// Operand and result of one dtype, one LLVM intrinsic.
ID float_intrinsic(Prim p) {
  switch (p) {
    case Prim::kAbs:
      return llvm::Intrinsic::fabs;
    case Prim::kFloor:
      return llvm::Intrinsic::floor;
    case Prim::kCeil:
      return llvm::Intrinsic::ceil;
    case Prim::kRoundEven:
      return llvm::Intrinsic::roundeven;
    case Prim::kRoundAfz:
      return llvm::Intrinsic::round;
    case Prim::kTrunc:
      return llvm::Intrinsic::trunc;
    case Prim::kSqrt:
      return llvm::Intrinsic::sqrt;
    case Prim::kMin:
      return llvm::Intrinsic::minimum;
    case Prim::kMax:
      return llvm::Intrinsic::maximum;
    default:
      return llvm::Intrinsic::not_intrinsic;
  }
}

const char* libm_name(Prim p) {
  switch (p) {
    case Prim::kCbrt:
      return "cbrt";
    case Prim::kExp:
      return "exp";
    case Prim::kExpm1:
      return "expm1";
    case Prim::kLog:
      return "log";
    case Prim::kLog1p:
      return "log1p";
    case Prim::kSin:
      return "sin";
    case Prim::kCos:
      return "cos";
    case Prim::kTan:
      return "tan";
    case Prim::kTanh:
      return "tanh";
    case Prim::kErf:
      return "erf";
    case Prim::kPow:
      return "pow";
    case Prim::kAtan2:
      return "atan2";
    case Prim::kAsin:
      return "asin";
    case Prim::kAcos:
      return "acos";
    case Prim::kAtan:
      return "atan";
    case Prim::kSinh:
      return "sinh";
    case Prim::kCosh:
      return "cosh";
    case Prim::kAsinh:
      return "asinh";
    case Prim::kAcosh:
      return "acosh";
    case Prim::kAtanh:
      return "atanh";
    case Prim::kRem:
      return "fmod";
    default:
      return nullptr;
  }
}

bool unsigned_order(DType d) { return is_unsigned(d) || is_pred(d); }

llvm::CmpInst::Predicate predicate(Prim p, DType d) {
  using P = llvm::CmpInst::Predicate;
  const bool f = is_float(d), u = unsigned_order(d);
  switch (p) {
    case Prim::kEq:
      return f ? P::FCMP_OEQ : P::ICMP_EQ;
    case Prim::kNe:
      return f ? P::FCMP_UNE : P::ICMP_NE;
    case Prim::kLt:
      return f ? P::FCMP_OLT : u ? P::ICMP_ULT : P::ICMP_SLT;
    case Prim::kLe:
      return f ? P::FCMP_OLE : u ? P::ICMP_ULE : P::ICMP_SLE;
    case Prim::kGt:
      return f ? P::FCMP_OGT : u ? P::ICMP_UGT : P::ICMP_SGT;
    default:
      return f ? P::FCMP_OGE : u ? P::ICMP_UGE : P::ICMP_SGE;
  }
}

}  // namespace

llvm::Type* Emitter::scalar_type(DType d) const {
  if (is_pred(d)) return llvm::Type::getInt1Ty(context_);
  if (d == DType::kF32) return llvm::Type::getFloatTy(context_);
  if (d == DType::kF64) return llvm::Type::getDoubleTy(context_);
  return llvm::Type::getIntNTy(context_, byte_size(d) * 8);  // narrow floats are their bits
}

llvm::Type* Emitter::memory_type(DType d) const {
  return is_pred(d) ? llvm::Type::getInt8Ty(context_) : scalar_type(d);
}

llvm::Value* Emitter::to_memory(DType d, Value* x) {
  return is_pred(d) ? b_.CreateZExt(x, like(b_.getInt8Ty(), x)) : x;
}

llvm::Value* Emitter::from_memory(DType d, Value* x) {
  if (is_pred(d)) return b_.CreateICmpNE(x, llvm::Constant::getNullValue(x->getType()));
  return is_integer(d) && bit_width(d) < 8 ? int_to_int(d, d, x) : x;
}

llvm::Type* Emitter::like(Type* scalar, Value* x) const {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  return vector ? llvm::FixedVectorType::get(scalar, vector->getNumElements()) : scalar;
}

llvm::Value* Emitter::splat_int(Value* x, uint64_t bits, int width) {
  return llvm::ConstantInt::get(like(b_.getIntNTy(width), x), llvm::APInt(width, bits, false, true));
}

llvm::Value* Emitter::splat_float(Value* x, double value) {
  return llvm::ConstantFP::get(like(x->getType()->getScalarType(), x), value);
}

llvm::Value* Emitter::emit_prim(int i) {
  const TapeNode& n = nodes_[i];
  const bool vector = kind(i).kind == LaneKind::kVarying;
  auto operand = [&](int32_t node) {
    return node < 0 ? nullptr : kind(i).kind == LaneKind::kStrided ? raw(node) : value(node, vector);
  };
  Value *a = operand(n.a), *b = operand(n.b), *c = operand(n.c);
  const DType from = n.a >= 0 ? nodes_[n.a].dtype : n.dtype;
  switch (n.prim) {
    case Prim::kConst:
      return constant(n);
    case Prim::kEq:
    case Prim::kNe:
    case Prim::kLt:
    case Prim::kLe:
    case Prim::kGt:
    case Prim::kGe:
      return b_.CreateCmp(predicate(n.prim, from), a, b);
    case Prim::kSelect:
      return b_.CreateSelect(a, b, c);
    case Prim::kConvert:
      return convert(from, n.dtype, a);
    case Prim::kBitcast:
      return bitcast(from, n.dtype, a);
    case Prim::kFma:
      return b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
    case Prim::kSin:
    case Prim::kCos:
    case Prim::kTan:
      return b ? call_math_where(n, a, b) : call_math(n, a, nullptr);
    default:
      return b ? binary(n, a, b) : unary(n, a);
  }
}

// Where no lane needs the call, it is jumped over.
llvm::Value* Emitter::call_math_where(const TapeNode& n, Value* a, Value* where) {
  Value* any = where->getType()->isVectorTy() ? b_.CreateOrReduce(where) : where;
  auto* before = b_.GetInsertBlock();
  auto* needed = new_block("rare");
  auto* after = new_block("usual");
  b_.CreateCondBr(any, needed, after);
  b_.SetInsertPoint(needed);
  Value* result = call_math(n, a, nullptr);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  auto* phi = b_.CreatePHI(a->getType(), 2);
  phi->addIncoming(llvm::Constant::getNullValue(a->getType()), before);
  phi->addIncoming(result, needed);
  return phi;
}

llvm::Value* Emitter::constant(const TapeNode& n) {
  Type* type = scalar_type(n.dtype);
  const int bits = type->getScalarSizeInBits();
  llvm::APInt value(bits, static_cast<uint64_t>(n.imm), false, true);
  if (is_signed(n.dtype) && bit_width(n.dtype) < 8) value = value.trunc(bit_width(n.dtype)).sext(bits);
  if (type->isFloatTy())
    return llvm::ConstantFP::get(type, llvm::APFloat(llvm::APFloat::IEEEsingle(), value));
  if (type->isDoubleTy())
    return llvm::ConstantFP::get(type, llvm::APFloat(llvm::APFloat::IEEEdouble(), value));
  return llvm::ConstantInt::get(type, value);
}

llvm::Value* Emitter::binary(const TapeNode& n, Value* a, Value* b) {
  const DType d = n.dtype;
  const bool f = is_float(d);
  switch (n.prim) {
    case Prim::kAdd:
      return is_pred(d) ? b_.CreateOr(a, b) : f ? b_.CreateFAdd(a, b) : b_.CreateAdd(a, b);
    case Prim::kSub:
      return f ? b_.CreateFSub(a, b) : b_.CreateSub(a, b);
    case Prim::kMul:
      return is_pred(d) ? b_.CreateAnd(a, b) : f ? b_.CreateFMul(a, b) : b_.CreateMul(a, b);
    case Prim::kDiv:
      return f ? b_.CreateFDiv(a, b) : integer_divide(d, a, b, false);
    case Prim::kRem:
      return f ? call_math(n, a, b) : integer_divide(d, a, b, true);
    case Prim::kMin:
    case Prim::kMax:
      return min_max(n, a, b);
    case Prim::kAnd:
      return b_.CreateAnd(a, b);
    case Prim::kOr:
      return b_.CreateOr(a, b);
    case Prim::kXor:
      return b_.CreateXor(a, b);
    case Prim::kShl:
    case Prim::kShrLogical:
    case Prim::kShrArith:
      return shift(n.prim, a, b);
    case Prim::kMulHi:
      return multiply_high(d, a, b);
    default:
      return call_math(n, a, b);
  }
}

llvm::Value* Emitter::min_max(const TapeNode& n, Value* a, Value* b) {
  const bool min = n.prim == Prim::kMin;
  ID id = float_intrinsic(n.prim);
  if (is_pred(n.dtype)) return min ? b_.CreateAnd(a, b) : b_.CreateOr(a, b);
  if (is_unsigned(n.dtype)) id = min ? llvm::Intrinsic::umin : llvm::Intrinsic::umax;
  if (is_signed(n.dtype)) id = min ? llvm::Intrinsic::smin : llvm::Intrinsic::smax;
  return b_.CreateBinaryIntrinsic(id, a, b);
}

// x / 0 is -1, x % 0 is x, and the most negative number divided by -1 is itself, with remainder 0.
llvm::Value* Emitter::integer_divide(DType d, Value* a, Value* b, bool remainder) {
  const int width = byte_size(d) * 8;
  Value* zero = b_.CreateICmpEQ(b, splat_int(b, 0, width));
  Value* unsafe = zero;
  if (is_signed(d)) {
    Value* lowest = b_.CreateICmpEQ(a, splat_int(a, uint64_t{1} << (width - 1), width));
    Value* minus_one = b_.CreateICmpEQ(b, splat_int(b, ~uint64_t{0}, width));
    unsafe = b_.CreateOr(zero, b_.CreateAnd(lowest, minus_one));
  }
  Value* divisor = b_.CreateSelect(unsafe, splat_int(b, 1, width), b);
  if (remainder) {
    Value* r = is_signed(d) ? b_.CreateSRem(a, divisor) : b_.CreateURem(a, divisor);
    return b_.CreateSelect(zero, a, r);
  }
  Value* q = is_signed(d) ? b_.CreateSDiv(a, divisor) : b_.CreateUDiv(a, divisor);
  return b_.CreateSelect(zero, splat_int(b, ~uint64_t{0}, width), q);
}

llvm::Value* Emitter::shift(Prim prim, Value* a, Value* b) {
  const int width = a->getType()->getScalarSizeInBits();
  Value* too_far = b_.CreateICmpUGE(b, splat_int(b, width, width));
  if (prim == Prim::kShrArith) {
    Value* sign_fill = splat_int(b, width - 1, width);
    return b_.CreateAShr(a, b_.CreateSelect(too_far, sign_fill, b));
  }
  Value* amount = b_.CreateSelect(too_far, splat_int(b, 0, width), b);
  Value* shifted = prim == Prim::kShl ? b_.CreateShl(a, amount) : b_.CreateLShr(a, amount);
  return b_.CreateSelect(too_far, splat_int(a, 0, width), shifted);
}

llvm::Value* Emitter::multiply_high(DType d, Value* a, Value* b) {
  const int width = byte_size(d) * 8;
  Type* wide = like(b_.getIntNTy(2 * width), a);
  auto extend = [&](Value* x) { return is_signed(d) ? b_.CreateSExt(x, wide) : b_.CreateZExt(x, wide); };
  Value* product = b_.CreateMul(extend(a), extend(b));
  return b_.CreateTrunc(b_.CreateLShr(product, splat_int(product, width, 2 * width)), a->getType());
}

llvm::Value* Emitter::unary(const TapeNode& n, Value* a) {
  const bool f = is_float(n.dtype);
  switch (n.prim) {
    case Prim::kNeg:
      return f ? b_.CreateFNeg(a) : b_.CreateNeg(a);
    case Prim::kAbs:
      if (f) break;
      return is_signed(n.dtype) ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, b_.getFalse()) : a;
    case Prim::kSign:
      return sign(n.dtype, a);
    case Prim::kNot:
      return b_.CreateNot(a);
    case Prim::kPopcnt:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, a);
    case Prim::kClz:
      return b_.CreateIntrinsic(llvm::Intrinsic::ctlz, {a->getType()}, {a, b_.getFalse()});
    case Prim::kRsqrt:
      return b_.CreateFDiv(splat_float(a, 1.0), b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a));
    default:
      break;
  }
  const ID id = float_intrinsic(n.prim);
  return id == llvm::Intrinsic::not_intrinsic ? call_math(n, a, nullptr) : b_.CreateUnaryIntrinsic(id, a);
}

llvm::Value* Emitter::sign(DType d, Value* a) {
  if (is_float(d)) {
    Value* one = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, splat_float(a, 1.0), a);
    return b_.CreateSelect(b_.CreateFCmpUEQ(a, splat_float(a, 0.0)), a, one);  // zeros and NaN stay
  }
  Value* zero = llvm::Constant::getNullValue(a->getType());
  Value* positive = b_.CreateZExt(
      b_.CreateICmp(is_signed(d) ? llvm::CmpInst::ICMP_SGT : llvm::CmpInst::ICMP_NE, a, zero), a->getType());
  return is_signed(d) ? b_.CreateOr(positive, b_.CreateSExt(b_.CreateICmpSLT(a, zero), a->getType()))
                      : positive;
}

// Functions that math.h does not expand: libm's, once per lane.
llvm::Value* Emitter::call_math(const TapeNode& n, Value* a, Value* b) {
  const char* name = libm_name(n.prim);
  if (!name) throw internal_error("no machine code for {}", to_string(n.prim));
  Type* scalar = a->getType()->getScalarType();
  std::vector<Type*> parameters(b ? 2 : 1, scalar);
  auto callee = module_.getOrInsertFunction(scalar->isFloatTy() ? std::string(name) + "f" : name,
                                            llvm::FunctionType::get(scalar, parameters, false));
  auto* f = llvm::cast<llvm::Function>(callee.getCallee());
  f->setDoesNotThrow();
  f->setDoesNotAccessMemory();
  f->setWillReturn();
  auto call = [&](Value* x, Value* y) {
    return y ? b_.CreateCall(callee, {x, y}) : b_.CreateCall(callee, {x});
  };
  if (!a->getType()->isVectorTy()) return call(a, b);
  Value* result = llvm::PoisonValue::get(a->getType());
  for (int l = 0; l < lanes_; ++l) {
    Value* y = b ? b_.CreateExtractElement(b, l) : nullptr;
    result = b_.CreateInsertElement(result, call(b_.CreateExtractElement(a, l), y), l);
  }
  return result;
}

}  // namespace armillary::cpu
