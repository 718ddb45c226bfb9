// Random bodies of fusions, cpu against interpreter. A failure prints the module; the seed is its number.
#include <algorithm>
#include <random>

#include "xla_core/backends/cpu/run_lowering.h"
#include "xla_core/shape/index.h"

namespace armillary::cpu {
namespace {

class RandomBody {
 public:
  RandomBody(Module& module, unsigned seed) : module_(module), random_(seed) {}

  Instruction* make() {
    combiner("add");
    combiner("maximum");
    body_ = module_.add_computation("body");
    const int parameters = pick(1, 3);
    for (int p = 0; p < parameters; ++p) {
      Shape shape(dtype(), {});
      for (int d = pick(0, 3); d > 0; --d) shape.dims.push_back(size());
      values_.push_back(body_->add_parameter(p, shape));
    }
    const int steps = pick(2, 9);
    for (int s = 0; s < steps; ++s) values_.push_back(step());
    return wrap(root());
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  int64_t size() {
    static const int64_t sizes[] = {1, 2, 3, 4, 7, 8, 16, 17, 33, 40, 64};
    return sizes[pick(0, 10)];
  }
  DType dtype() {
    static const DType dtypes[] = {DType::kF32, DType::kF32,  DType::kF32, DType::kF64,
                                   DType::kS32, DType::kBF16, DType::kC64};
    return dtypes[pick(0, 6)];
  }
  Instruction* any() { return values_[pick(0, static_cast<int>(values_.size()) - 1)]; }

  void combiner(const std::string& name) {
    for (DType d : {DType::kF32, DType::kF64, DType::kS32, DType::kBF16}) {
      Computation* c = module_.add_computation(name + "_" + std::string(to_string(d)));
      Instruction* a = c->add_parameter(0, Shape::scalar(d));
      Instruction* b = c->add_parameter(1, Shape::scalar(d));
      c->set_root(c->add(op_from_name(name)->op, {a, b}));
    }
  }
  Computation* combiner_of(DType d) {
    const std::string name = (pick(0, 1) ? "add_" : "maximum_") + std::string(to_string(d));
    for (Computation* c : module_.computations())
      if (c->name() == name) return c;
    return nullptr;
  }

  Instruction* constant(DType d, double value) {
    Literal x(Shape::scalar(d));
    is_complex(d) ? x.set_complex(0, value)
    : is_float(d) ? x.set_double(0, value)
                  : x.set_int(0, static_cast<int64_t>(value));
    return body_->add_constant(x);
  }
  Instruction* broadcast_to(Instruction* x, Dims dims, Dims map) {
    Attrs attrs;
    attrs.set(Attr::dimensions, map);
    return body_->add(Op::broadcast, Shape(x->dtype(), std::move(dims)), {x}, attrs);
  }
  // Another value of x's shape and dtype.
  Instruction* like(Instruction* x) {
    for (int tries = 0; tries < 8; ++tries) {
      Instruction* y = any();
      if (y->dtype() != x->dtype()) continue;
      if (y->dims() == x->dims()) return y;
      if (y->shape().num_elements() == x->shape().num_elements())
        return body_->add(Op::reshape, x->shape(), {y});
      Dims map;  // y's dims found among x's, in order
      size_t next = 0;
      for (size_t d = 0; d < x->dims().size() && next < y->dims().size(); ++d)
        if (x->dims()[d] == y->dims()[next]) map.push_back(static_cast<int64_t>(d)), ++next;
      if (next == y->dims().size()) return broadcast_to(y, x->dims(), map);
    }
    return broadcast_to(constant(x->dtype(), pick(-3, 3) * 0.5), x->dims(), {});
  }

  Instruction* step() {
    Instruction* x = any();
    const int64_t rank = x->shape().rank();
    const bool room = x->shape().num_elements() < 20000;
    switch (pick(0, 13)) {
      case 0:
      case 1:
      case 2: {
        static const Op ops[] = {Op::add, Op::subtract, Op::multiply};
        return body_->add(ops[pick(0, 2)], {x, like(x)});
      }
      case 3:
        return body_->add(Op::negate, {x});
      case 4:
        if (!is_float(x->dtype())) return body_->add(Op::negate, {x});
        return body_->add(pick(0, 1) ? Op::tanh : Op::abs, {x});
      case 5: {
        if (is_complex(x->dtype())) return body_->add(Op::negate, {x});
        Attrs attrs;
        attrs.set(Attr::direction, std::string(pick(0, 1) ? "LT" : "GE"));
        Instruction* y = like(x);
        Instruction* p = body_->add(Op::compare, {x, y}, attrs);
        return body_->add(Op::select, {p, y, like(x)});
      }
      case 6:
        return convert(x);
      case 7:
        return transpose(x);
      case 8:
        return reshape(x);
      case 9:
        return room && rank < 4 ? new_dimension(x) : reshape(x);
      case 10:
        return slice(x);
      case 11:
        return room ? pad(x) : slice(x);
      case 12:
        return reverse_or_concatenate(x, room);
      default:
        return reduce(x);
    }
  }
  Instruction* convert(Instruction* x) {
    if (is_complex(x->dtype())) return body_->add(pick(0, 1) ? Op::real : Op::imag, {x});
    DType to = dtype();
    if (is_integer(to)) to = DType::kF32;  // rounding differs by an ulp, and then truncates differently
    return body_->add(Op::convert, x->shape().with_dtype(to), {x});
  }
  Instruction* transpose(Instruction* x) {
    Dims permutation(x->dims().size());
    for (size_t d = 0; d < permutation.size(); ++d) permutation[d] = static_cast<int64_t>(d);
    std::shuffle(permutation.begin(), permutation.end(), random_);
    Attrs attrs;
    attrs.set(Attr::dimensions, permutation);
    return body_->add(Op::transpose, {x}, attrs);
  }
  Instruction* reshape(Instruction* x) {
    int64_t left = x->shape().num_elements();
    Dims dims;
    for (int64_t f : {2, 3, 4, 7, 8})
      if (left % f == 0 && left > f && pick(0, 1)) dims.push_back(f), left /= f;
    dims.push_back(left);
    std::shuffle(dims.begin(), dims.end(), random_);
    return body_->add(Op::reshape, Shape(x->dtype(), dims), {x});
  }
  Instruction* new_dimension(Instruction* x) {
    Dims dims = x->dims(), map;
    const int64_t at = pick(0, static_cast<int>(dims.size()));
    dims.insert(dims.begin() + at, size());
    for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d)
      if (d != at) map.push_back(d);
    return broadcast_to(x, dims, map);
  }
  Instruction* slice(Instruction* x) {
    Slices slices;
    for (int64_t n : x->dims()) {
      const int64_t start = pick(0, static_cast<int>(n - 1) / 2),
                    limit = pick(static_cast<int>(start) + 1, static_cast<int>(n));
      slices.push_back({start, limit, pick(1, 2)});
    }
    Attrs attrs;
    attrs.set(Attr::slice, slices);
    return body_->add(Op::slice, {x}, attrs);
  }
  Instruction* pad(Instruction* x) {
    Padding padding;
    for (int64_t n : x->dims())
      padding.push_back({pick(n > 1 ? -1 : 0, 3), pick(0, 3), pick(0, 1) * pick(0, 1)});
    Attrs attrs;
    attrs.set(Attr::padding, padding);
    return body_->add(Op::pad, {x, constant(x->dtype(), 1)}, attrs);
  }
  Instruction* reverse_or_concatenate(Instruction* x, bool room) {
    if (x->shape().rank() == 0) return body_->add(Op::negate, {x});
    Attrs attrs;
    attrs.set(Attr::dimensions, Dims{pick(0, static_cast<int>(x->shape().rank()) - 1)});
    return room && pick(0, 1) ? body_->add(Op::concatenate, {x, like(x), x}, attrs)
                              : body_->add(Op::reverse, {x}, attrs);
  }
  Instruction* reduce(Instruction* x) {
    if (is_complex(x->dtype()) || x->shape().rank() == 0) return body_->add(Op::negate, {x});
    Dims dims;
    for (int64_t d = 0; d < x->shape().rank(); ++d)
      if (pick(0, 1)) dims.push_back(d);
    Attrs attrs;
    attrs.set(Attr::dimensions, dims);
    attrs.set(Attr::to_apply, combiner_of(x->dtype()));
    return body_->add(Op::reduce, {x, constant(x->dtype(), -0.5)}, attrs);
  }

  Instruction* root() {
    Instruction* last = values_.back();
    std::vector<Instruction*> all = {last};
    for (Instruction* v : values_)
      if (v != last && v->shape().num_elements() == last->shape().num_elements() && pick(0, 1))
        all.push_back(v);
    Instruction* r = all.size() > 1 ? body_->add(Op::tuple, all) : last;
    body_->set_root(r);
    return r;
  }
  Instruction* wrap(Instruction* root) {
    Computation* entry = module_.add_computation("e");
    module_.set_entry(entry);
    std::vector<Instruction*> operands;
    for (Instruction* p : body_->parameters())
      operands.push_back(entry->add_parameter(p->parameter_number(), p->shape()));
    Attrs attrs;
    attrs.set(Attr::kind, std::string("kLoop"));
    attrs.set(Attr::calls, std::vector<Computation*>{body_});
    Instruction* f = entry->add(Op::fusion, root->shape(), operands, attrs);
    entry->set_root(f);
    return f;
  }

  Module& module_;
  std::mt19937 random_;
  Computation* body_ = nullptr;
  std::vector<Instruction*> values_;
};

TEST(RandomFusions, agree_with_the_interpreter) {
  const char* count = std::getenv("RANDOM_FUSIONS");
  const char* only = std::getenv("RANDOM_SEED");
  const unsigned first = only ? std::stoul(only) : 1, last = only ? first : count ? std::stoul(count) : 150;
  for (unsigned seed = first; seed <= last; ++seed) {
    Module module("m");
    const Instruction* fusion = RandomBody(module, seed).make();
    std::vector<Literal> arguments;
    for (const Instruction* p : module.entry()->parameters())
      arguments.push_back(random_literal(p->shape(), seed + p->parameter_number()));
    const Literal want = evaluate(module, arguments);
    std::string why;
    ASSERT_TRUE(kernels::can_lower(*fusion, &why)) << why << "\n" << print(module);
    const std::vector<Literal> wants = want.is_tuple() ? want.tuple() : std::vector<Literal>{want};
    for (bool share : {false, true}) {
      const std::vector<Literal> got = run_lowering(*fusion, arguments, share);
      for (size_t i = 0; i < got.size(); ++i) {
        const bool narrow = byte_size(got[i].dtype()) == 2;
        expect_close(got[i], wants[i], narrow ? 3e-2 : 2e-5, "leaf " + std::to_string(i),
                     narrow ? 3e-1 : 2e-3);
      }
      if (testing::Test::HasFailure())
        FAIL() << "RANDOM_SEED=" << seed << (share ? " sharing memory" : "") << "\n" << print(module);
    }
  }
}

}  // namespace
}  // namespace armillary::cpu
