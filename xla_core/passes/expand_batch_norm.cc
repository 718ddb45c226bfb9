// batch-norm-*: written out from their definitions. 16-bit operands are computed in f32.
#include "xla_core/passes/expand.h"

namespace armillary {
namespace {

// The pieces that all three share; everything is in the computing dtype until `result`.
class BatchNorm : public Build {
 public:
  explicit BatchNorm(Instruction* i)
      : Build(i),
        instr_(i),
        feature_(i->attrs().integer(Attr::feature_index)),
        dtype_(bit_width(i->operand(0)->dtype()) < 32 ? DType::kF32 : i->operand(0)->dtype()) {
    const Dims& dims = i->operand(0)->dims();
    for (int64_t d = 0; d < i->operand(0)->shape().rank(); ++d)
      if (d != feature_) {
        others_.push_back(d);
        count_ *= static_cast<double>(dims[d]);
      }
  }

  Instruction* operand(int64_t k) { return convert(instr_->operand(k), dtype_); }
  Instruction* spread(Instruction* per_feature) {
    return broadcast(per_feature, instr_->operand(0)->dims(), {feature_});
  }
  Instruction* sum(Instruction* x) { return reduce(Op::add, x, 0, others_); }
  Instruction* mean(Instruction* x) {
    Instruction* total = sum(x);
    return add(Op::divide, {total, splat(total->shape(), count_)});
  }
  Instruction* times(Instruction* x, Instruction* y) { return add(Op::multiply, {x, y}); }
  Instruction* minus(Instruction* x, Instruction* y) { return add(Op::subtract, {x, y}); }
  Instruction* inverse_deviation(Instruction* variance) {
    Instruction* epsilon = splat(variance->shape(), instr_->attrs().real(Attr::epsilon));
    return add(Op::rsqrt, {add(Op::add, {variance, epsilon})});
  }
  // (x - mean) / deviation
  Instruction* normalized(Instruction* x, Instruction* mean, Instruction* inverse) {
    return times(minus(x, spread(mean)), spread(inverse));
  }
  Instruction* result(Instruction* x, DType dtype) { return convert(x, dtype); }
  DType stated(int64_t k) const {
    return instr_->shape().is_tuple() ? instr_->shape().tuple[k].dtype : instr_->dtype();
  }
  double count() const { return count_; }

 private:
  Instruction* instr_;
  int64_t feature_;
  DType dtype_;
  Dims others_;
  double count_ = 1;
};

}  // namespace

Instruction* expand_batch_norm_inference(Instruction* i) {
  BatchNorm b(i);
  Instruction* y = b.normalized(b.operand(0), b.operand(3), b.inverse_deviation(b.operand(4)));
  y = b.add(Op::add, {b.times(y, b.spread(b.operand(1))), b.spread(b.operand(2))});
  return b.result(y, b.stated(0));
}

Instruction* expand_batch_norm_training(Instruction* i) {
  BatchNorm b(i);
  Instruction* x = b.operand(0);
  Instruction* mean = b.mean(x);
  Instruction* centered = b.minus(x, b.spread(mean));
  Instruction* variance = b.mean(b.times(centered, centered));
  Instruction* y = b.times(centered, b.spread(b.inverse_deviation(variance)));
  y = b.add(Op::add, {b.times(y, b.spread(b.operand(1))), b.spread(b.operand(2))});
  return b.tuple({b.result(y, b.stated(0)), b.result(mean, b.stated(1)), b.result(variance, b.stated(2))});
}

// d operand = scale / deviation * (dy - mean(dy) - xhat * mean(dy * xhat))
Instruction* expand_batch_norm_grad(Instruction* i) {
  BatchNorm b(i);
  Instruction* dy = b.operand(4);
  Instruction* inverse = b.inverse_deviation(b.operand(3));
  Instruction* xhat = b.normalized(b.operand(0), b.operand(2), inverse);
  Instruction* grad_offset = b.sum(dy);
  Instruction* grad_scale = b.sum(b.times(dy, xhat));
  Instruction* n = b.splat(grad_scale->shape(), b.count());
  Instruction* centered = b.minus(dy, b.spread(b.add(Op::divide, {grad_offset, n})));
  centered = b.minus(centered, b.times(xhat, b.spread(b.add(Op::divide, {grad_scale, n}))));
  Instruction* grad = b.times(b.spread(b.times(b.operand(1), inverse)), centered);
  return b.tuple(
      {b.result(grad, b.stated(0)), b.result(grad_scale, b.stated(1)), b.result(grad_offset, b.stated(2))});
}

}  // namespace armillary
