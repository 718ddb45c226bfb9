#include "xla_core/passes/testing/programs.h"

#include <algorithm>

#include "xla_core/passes/build.h"

namespace armillary::testing {
namespace {

// Grows one computation by picking operands among what is there.
class Grower {
 public:
  Grower(Rng& rng, Computation* c, std::vector<Instruction*> values)
      : rng_(rng), computation_(c), values_(std::move(values)) {
    end_ = c->add_constant(Literal(Shape::scalar(DType::kPred)));
    c->set_root(end_);
  }

  void grow(int size, int depth) {
    for (int n = 0; n < size; ++n)
      if (Instruction* made = step(depth)) values_.push_back(made);
  }

  // The last few values as results; what the anchor stood for goes away.
  void finish(std::vector<Instruction*> results) {
    Build b(end_);
    computation_->set_root(results.size() == 1 ? results[0] : b.tuple(results));
    computation_->erase(end_);
  }
  std::vector<Instruction*> last(size_t n) const {
    return {values_.end() - static_cast<int64_t>(std::min(n, values_.size())), values_.end()};
  }
  Instruction* any() {
    return values_[std::max(rng_() % values_.size(), rng_() % values_.size())];
  }  // rather a late one
  Instruction* of_shape(const Shape& shape) {
    for (int n = 0; n < 8; ++n)
      if (Instruction* v = any(); v->shape().compatible(shape)) return v;
    return nullptr;
  }
  Instruction* anchor() const { return end_; }

 private:
  Instruction* step(int depth) {
    Build b(end_);
    Instruction* x = any();
    const int64_t rank = x->shape().rank();
    switch (pick(rng_, 0, depth > 0 ? 14 : 12)) {
      case 0:
        return unary(b, x);
      case 1:
      case 2:
      case 3:
        return binary(b, x);
      case 4:
        return b.compare("LT", x, x);
      case 5:
        return b.splat(x->shape(), static_cast<double>(pick(rng_, -2, 2)));
      case 6:
        return spread(b, x);
      case 7:
        return rank > 0 && x->dtype() != DType::kPred
                   ? b.reduce(chance(rng_, 0.5) ? Op::add : Op::maximum, x, chance(rng_, 0.5) ? 0 : 1,
                              {pick(rng_, 0, rank - 1)})
                   : nullptr;
      case 8:
        return rank == 2 ? b.transpose(x, {1, 0}) : nullptr;
      case 9:
        return slice(b, x);
      case 10:
        return update(b, x);
      case 11:
        return choose(b, x);
      case 12:
        return dot(b, x);
      case 13:
        return loop(b, depth);
      default:
        return branch(b, depth);
    }
  }

  Instruction* unary(Build& b, Instruction* x) {
    if (x->dtype() == DType::kPred) return b.add(Op::not_, {x});
    static constexpr Op kFloat[] = {Op::negate, Op::abs, Op::tanh, Op::exponential, Op::sqrt},
                        kInt[] = {Op::negate, Op::abs, Op::not_};
    if (chance(rng_, 0.2)) return b.convert(x, x->dtype() == DType::kF32 ? DType::kS32 : DType::kF32);
    return b.add(is_float(x->dtype()) ? kFloat[rng_() % 5] : kInt[rng_() % 3], {x});
  }
  Instruction* binary(Build& b, Instruction* x) {
    Instruction* y = of_shape(x->shape());
    if (!y) return nullptr;
    if (x->dtype() == DType::kPred) return b.add(chance(rng_, 0.5) ? Op::and_ : Op::or_, {x, y});
    static constexpr Op kOps[] = {Op::add, Op::subtract, Op::multiply, Op::maximum, Op::minimum};
    return b.add(kOps[rng_() % 5], {x, y});
  }
  Instruction* spread(Build& b, Instruction* x) {
    if (x->shape().rank() == 0) return b.broadcast(x, {chance(rng_, 0.5) ? 4 : 6}, {});
    if (x->shape().rank() == 1) return b.broadcast(x, {x->dims()[0], 5}, {0});
    return b.reshape(x, {x->shape().num_elements()});
  }
  Instruction* slice(Build& b, Instruction* x) {
    if (x->shape().rank() == 0 || x->dims()[0] < 2) return nullptr;
    Slices head, tail;
    for (int64_t d : x->dims()) head.push_back({0, d, 1});
    tail = head;
    const int64_t cut = pick(rng_, 1, x->dims()[0] - 1);
    head[0].limit = tail[0].start = cut;
    if (chance(rng_, 0.3)) return b.reverse(x, {0});
    if (chance(rng_, 0.5)) return b.concatenate({b.slice(x, tail), b.slice(x, head)}, 0);
    return b.pad(b.slice(x, head), b.scalar(x->dtype(), 1), padding_of(x->dims(), cut));
  }
  Padding padding_of(const Dims& dims, int64_t cut) {
    Padding padding(dims.size());
    padding[0].high = dims[0] - cut;
    return padding;
  }
  Instruction* update(Build& b, Instruction* x) {
    if (x->shape().rank() == 0) return nullptr;
    Dims window = x->dims();
    window[0] = 1;
    std::vector<Instruction*> starts(window.size(), b.scalar_int(DType::kS32, 0));
    starts[0] = b.scalar_int(DType::kS32, pick(rng_, -1, 4));
    Instruction* old = b.dynamic_slice(x, starts, window);
    return b.dynamic_update_slice(
        x, chance(rng_, 0.5) ? unary(b, old)->dtype() == x->dtype() ? unary_same(b, old) : old : old, starts);
  }
  Instruction* unary_same(Build& b, Instruction* x) {
    return b.add(x->dtype() == DType::kPred ? Op::not_ : Op::negate, {x});
  }
  Instruction* choose(Build& b, Instruction* x) {
    Instruction* y = of_shape(x->shape());
    Instruction* p = y ? of_shape(Shape(DType::kPred, x->dims())) : nullptr;
    return p ? b.select(p, x, y) : nullptr;
  }
  Instruction* dot(Build& b, Instruction* x) {
    if (x->shape().rank() != 2 || x->dtype() == DType::kPred) return nullptr;
    Attrs attrs = with(Attr::lhs_contracting_dims, Dims{1});
    attrs.set(Attr::rhs_contracting_dims, Dims{1});
    return b.add(Op::dot, Shape(x->dtype(), {x->dims()[0], x->dims()[0]}), {x, x}, attrs);
  }

  // for (i = 0; i < n; ++i) state = body(state)
  Instruction* loop(Build& b, int depth) {
    std::vector<Instruction*> state{b.scalar_int(DType::kS32, 0)};
    for (int n = 0; n < 3; ++n) state.push_back(any());
    Instruction* initial = b.tuple(state);
    Module* module = computation_->module();
    Computation* condition = module->add_computation("condition");
    Instruction* p = condition->add_parameter(0, initial->shape());
    Grower test(rng_, condition, {p});
    Build t(test.anchor());
    test.finish({t.compare("LT", t.element(p, 0), t.scalar_int(DType::kS32, pick(rng_, 0, 3)))});
    Computation* body = module->add_computation("body");
    Instruction* q = body->add_parameter(0, initial->shape());
    Grower inside(rng_, body, {q});
    Build i(inside.anchor());
    inside.values_.clear();
    for (size_t k = 1; k < state.size(); ++k) inside.values_.push_back(i.element(q, static_cast<int64_t>(k)));
    inside.grow(6, depth - 1);
    std::vector<Instruction*> next{i.add(Op::add, {i.element(q, 0), i.scalar_int(DType::kS32, 1)})};
    for (size_t k = 1; k < state.size(); ++k) {
      Instruction* v = chance(rng_, 0.7) ? inside.of_shape(state[k]->shape()) : nullptr;
      next.push_back(v ? v : inside.values_[k - 1]);
    }
    Build e(inside.anchor());
    body->set_root(e.tuple(next));
    body->erase(inside.anchor());
    Attrs attrs = with(Attr::condition, condition);
    attrs.set(Attr::body, body);
    Instruction* made = b.add(Op::while_, initial->shape(), {initial}, attrs);
    return b.element(made, pick(rng_, 1, 3));
  }

  Instruction* branch(Build& b, int depth) {
    Instruction* x = any();
    std::vector<Computation*> branches;
    for (int n = 0; n < 2; ++n) {
      Computation* c = computation_->module()->add_computation("branch");
      Grower g(rng_, c, {c->add_parameter(0, x->shape())});
      g.grow(4, depth - 1);
      Instruction* result = g.of_shape(x->shape());
      g.finish({result ? result : c->parameter(0)});
      branches.push_back(c);
    }
    Instruction* p =
        chance(rng_, 0.3) ? b.scalar(DType::kPred, chance(rng_, 0.5)) : of_shape(Shape::scalar(DType::kPred));
    if (!p) p = b.compare("LT", b.scalar_int(DType::kS32, 1), b.scalar_int(DType::kS32, 2));
    Attrs attrs = with(Attr::true_computation, branches[0]);
    attrs.set(Attr::false_computation, branches[1]);
    return b.add(Op::conditional, x->shape(), {p, x, x}, attrs);
  }

  Rng& rng_;
  Computation* computation_;
  std::vector<Instruction*> values_;
  Instruction* end_;
};

}  // namespace

std::unique_ptr<Module> random_program(Rng& rng, int size) {
  auto module = std::make_unique<Module>("random");
  Computation* entry = module->add_computation("main");
  module->set_entry(entry);
  std::vector<Instruction*> parameters;
  const Shape shapes[] = {{DType::kF32, {4, 5}},  {DType::kF32, {4, 5}}, {DType::kF32, {4}},
                          {DType::kS32, {4, 5}},  {DType::kF32, {}},     {DType::kS32, {}},
                          {DType::kPred, {4, 5}}, {DType::kF32, {6}}};
  for (const Shape& s : shapes)
    parameters.push_back(entry->add_parameter(static_cast<int64_t>(parameters.size()), s));
  Grower grower(rng, entry, parameters);
  grower.grow(size, 2);
  grower.finish(grower.last(static_cast<size_t>(4 + size / 5)));
  return module;
}

}  // namespace armillary::testing
