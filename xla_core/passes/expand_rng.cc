// rng: the process's generator gives a state, philox makes bits of it, arithmetic makes numbers of those.
#include <numbers>

#include "xla_core/passes/expand.h"

namespace armillary {
namespace {

class RandomNumbers : public Build {
 public:
  explicit RandomNumbers(Instruction* i) : Build(i), rng_(*i) {}

  Instruction* result() {
    if (is_integral(rng_.dtype())) return integers();
    return rng_.attrs().text(Attr::distribution) == "rng_normal" ? normal() : uniform();
  }

 private:
  // Each call draws other bits: the generator moves on by the blocks of 128 bits that they take.
  Instruction* bits(Dims dims, DType dtype) {
    const Shape shape(dtype, std::move(dims));
    const int64_t blocks = (shape.num_elements() * bit_width(dtype) + 127) / 128;
    Instruction* state =
        add(Op::rng_get_and_update_state, {}, with(Attr::delta, std::max<int64_t>(blocks, 1)));
    return add(Op::rng_bit_generator, shape, {state}, with(Attr::algorithm, std::string("rng_philox")));
  }

  // In [0, 1), with as many bits as the computing type's significand has.
  Instruction* unit(const Dims& dims) {
    const bool wide = computing_ == DType::kF64;
    Instruction* drawn = bits(dims, wide ? DType::kU64 : DType::kU32);
    Instruction* shift = splat(drawn->shape(), scalar_int(drawn->dtype(), wide ? 11 : 8));
    Instruction* top = convert(add(Op::shift_right_logical, {drawn, shift}), computing_);
    return add(Op::multiply, {top, splat(top->shape(), wide ? 0x1p-53 : 0x1p-24)});
  }

  Instruction* operand(int64_t k) {
    return splat(Shape(computing_, rng_.dims()), convert(rng_.operand(k), computing_));
  }

  // a + (b - a) u; what is rounded up to the bound becomes a.
  Instruction* uniform() {
    Instruction *a = operand(0), *b = operand(1);
    Instruction* scaled = add(Op::multiply, {unit(rng_.dims()), add(Op::subtract, {b, a})});
    Instruction* x = convert(add(Op::add, {a, scaled}), rng_.dtype());
    Instruction *low = convert(a, rng_.dtype()), *high = convert(b, rng_.dtype());
    return select(compare("GE", x, high), low, x);
  }

  // Box and Muller: mean + deviation sqrt(-2 log(1 - u)) cos(2 pi v)
  Instruction* normal() {
    Instruction *u = unit(rng_.dims()), *v = unit(rng_.dims());
    const Shape& shape = u->shape();
    Instruction* logarithm = add(Op::log, {add(Op::subtract, {splat(shape, 1), u})});
    Instruction* radius = add(Op::sqrt, {add(Op::multiply, {splat(shape, -2), logarithm})});
    Instruction* angle = add(Op::cosine, {add(Op::multiply, {splat(shape, 2 * std::numbers::pi), v})});
    Instruction* deviate = add(Op::multiply, {operand(1), add(Op::multiply, {radius, angle})});
    return convert(add(Op::add, {operand(0), deviate}), rng_.dtype());
  }

  // a + bits mod (b - a), in 64 bits that wrap; a where that range is empty.
  Instruction* integers() {
    Instruction* drawn = bits(rng_.dims(), DType::kU64);
    Instruction* a = splat(drawn->shape(), convert(rng_.operand(0), DType::kU64));
    Instruction* b = splat(drawn->shape(), convert(rng_.operand(1), DType::kU64));
    Instruction* range = add(Op::subtract, {b, a});
    Instruction* offset = add(Op::remainder, {drawn, range});
    Instruction* empty = compare("EQ", range, splat(drawn->shape(), scalar_int(DType::kU64, 0)));
    return convert(select(empty, a, add(Op::add, {a, offset})), rng_.dtype());
  }

  const Instruction& rng_;
  const DType computing_ = rng_.dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
};

}  // namespace

Instruction* expand_rng(Instruction* i) { return RandomNumbers(i).result(); }

}  // namespace armillary
