#include "xla_core/spmd/linear.h"

#include <gtest/gtest.h>

#include <random>

#include "xla_core/hlo/text.h"
#include "xla_core/interp/interpreter.h"

namespace armillary {
namespace {

struct Case {
  const char* op;
  std::vector<bool> summed;
  bool linear;
};

// x, y, z: f32[2,3]; w: f32[]; b, c: bf16[2,3]; n: s32[2,3]; k: s32[]; zero: f32[] 0
const Case kCases[] = {
    {"f32[2,3] add(x, y)", {true, true}, true},
    {"f32[2,3] add(x, y)", {true, false}, false},
    {"f32[2,3] subtract(x, y)", {true, true}, true},
    {"f32[2,3] negate(x)", {true}, true},
    {"f32[2,3] multiply(x, y)", {true, false}, true},
    {"f32[2,3] multiply(x, y)", {true, true}, false},
    {"f32[2,3] divide(x, y)", {true, false}, true},
    {"f32[2,3] divide(x, y)", {false, true}, false},
    {"s32[2,3] divide(n, n)", {true, false}, false},
    {"f32[2,3] sine(x)", {true}, false},
    {"f32[2,3] abs(x)", {true}, false},
    {"f32[2,3] maximum(x, y)", {true, true}, false},
    {"f32[2,3] select(p, x, y)", {false, true, true}, true},
    {"f32[2,3] select(p, x, y)", {false, true, false}, false},
    {"bf16[2,3] select(p, b, c)", {false, true, true}, true},
    {"bf16[2,3] add(b, c)", {true, true}, true},
    {"bf16[2,3] convert(x)", {true}, true},
    {"f32[2,3] convert(b)", {true}, true},
    {"s32[2,3] convert(x)", {true}, false},
    {"s8[2,3] convert(n)", {true}, true},
    {"s64[2,3] convert(n)", {true}, false},
    {"f32[2,3] convert(n)", {true}, false},
    {"s32[2,3] bitcast-convert(x)", {true}, false},
    {"f32[2,3] reduce-precision(x), exponent_bits=5, mantissa_bits=4", {true}, false},
    {"f32[3,2] transpose(x), dimensions={1,0}", {true}, true},
    {"f32[6] reshape(x)", {true}, true},
    {"f32[2,2,3] broadcast(x), dimensions={1,2}", {true}, true},
    {"f32[2,2] slice(x), slice={[0:2], [1:3]}", {true}, true},
    {"f32[2,6] concatenate(x, y), dimensions={1}", {true, true}, true},
    {"f32[2,6] concatenate(x, y), dimensions={1}", {true, false}, false},
    {"f32[2,5] pad(x, zero), padding=0_0x1_1", {true, true}, true},
    {"f32[2,5] pad(x, w), padding=0_0x1_1", {true, false}, false},
    {"f32[2,1] dynamic-slice(x, k, k), dynamic_slice_sizes={2,1}", {true, false, false}, true},
    {"s32[2,1] dynamic-slice(n, k, k), dynamic_slice_sizes={2,1}", {true, true, true}, false},
    {"f32[2,3] dynamic-update-slice(x, u, k, k)", {true, true, false, false}, true},
    {"f32[2,3] dynamic-update-slice(x, u, k, k)", {true, false, false, false}, false},
    {"bf16[2,3] dynamic-update-slice(b, v, k, k)", {true, true, false, false}, true},
    {"f32[2,2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}", {true, false}, true},
    {"f32[2,2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}", {true, true}, false},
    {"f32[2] reduce(x, zero), dimensions={1}, to_apply=add", {true, false}, true},
    {"f32[2] reduce(x, one), dimensions={1}, to_apply=add", {true, false}, false},
    {"f32[2] reduce(x, zero), dimensions={1}, to_apply=max", {true, false}, false},
};

std::unique_ptr<Module> module_of(const Case& c) {
  return parse(std::string(R"(HloModule m
  add { a0 = f32[] parameter(0) a1 = f32[] parameter(1) ROOT a2 = f32[] add(a0, a1) }
  max { m0 = f32[] parameter(0) m1 = f32[] parameter(1) ROOT m2 = f32[] maximum(m0, m1) }
  ENTRY e {
    x = f32[2,3] parameter(0)
    y = f32[2,3] parameter(1)
    w = f32[] parameter(2)
    b = bf16[2,3] parameter(3)
    c = bf16[2,3] parameter(4)
    n = s32[2,3] parameter(5)
    k = s32[] parameter(6)
    p = pred[2,3] parameter(7)
    u = f32[2,2] parameter(8)
    v = bf16[1,3] parameter(9)
    zero = f32[] constant(0)
    one = f32[] constant(1)
    ROOT r = )") +
               c.op + " }");
}

TEST(Linear, what_is_linear_is_read_off_the_row) {
  for (const Case& c : kCases)
    EXPECT_EQ(is_linear(*module_of(c)->entry()->root(), c.summed), c.linear) << c.op;
}

// On small integers, which every type holds: f(s + t) = f(s) + f(t), whatever is not summed.
TEST(Linear, what_is_linear_is_so_for_every_two_summands) {
  std::mt19937 random(3);
  for (const Case& c : kCases) {
    if (!c.linear) continue;
    const auto m = module_of(c);
    const Instruction* root = m->entry()->root();
    std::vector<Literal> first, second, both;
    for (const Instruction* p : m->entry()->parameters()) {
      bool summed = false;
      for (int64_t o = 0; o < root->num_operands(); ++o)
        summed = summed || (root->operand(o) == p && c.summed[o]);
      first.emplace_back(p->shape());
      second.emplace_back(p->shape());
      both.emplace_back(p->shape());
      for (int64_t e = 0; e < first.back().size(); ++e) {
        auto draw = [&] {  // powers of two, so that they divide
          const int64_t value = int64_t{1} << random() % 3;
          return is_pred(p->dtype()) ? value % 2 : value;
        };
        const int64_t s = draw(), t = summed ? draw() : s;
        first.back().set_int(e, s);
        second.back().set_int(e, t);
        both.back().set_int(e, summed ? s + t : s);
      }
    }
    const Literal fs = evaluate(*m->entry(), first), ft = evaluate(*m->entry(), second),
                  f = evaluate(*m->entry(), both);
    for (int64_t e = 0; e < f.size(); ++e)
      EXPECT_EQ(f.get_double(e), fs.get_double(e) + ft.get_double(e)) << c.op;
  }
}

}  // namespace
}  // namespace armillary
