// Fusion must not blow programs up: not in the shapes that duplicate work, and not in time.
#include <gtest/gtest.h>

#include <chrono>

#include "xla_core/fusion/fusion.h"
#include "xla_core/hlo/text.h"
#include "xla_core/passes/build.h"

namespace armillary {
namespace {

constexpr int64_t kGrowth = 8;  // instructions after fusion, per instruction before

std::unique_ptr<Module> fused(const std::string& body) {
  auto module = parse("HloModule m\n" + body);
  PassContext context;
  context.verify_each = true;
  fuse(*module, context);
  verify(*module);
  return module;
}

int64_t count(const Module& module, Op op) {
  int64_t n = 0;
  for (const Computation* c : module.reachable())
    for (const Instruction* i : c->instructions()) n += i->is(op);
  return n;
}

// Each step reads the one before at two places: written out naively, the last one has 2^n copies of the
// first.
TEST(Growth, shifted_sums_do_not_double) {
  const int steps = 200;
  std::string text = "ENTRY main {\n  x0 = f32[1024]{0} parameter(0)\n  z = f32[] constant(0)\n";
  for (int n = 0; n < steps; ++n) {
    text += fmt::format("  s{0} = f32[1023]{{0}} slice(x{0}), slice={{[1:1024]}}\n", n);
    text += fmt::format("  p{0} = f32[1024]{{0}} pad(s{0}, z), padding=0_1\n", n);
    text += fmt::format("  x{1} = f32[1024]{{0}} add(x{0}, p{0})\n", n, n + 1);
  }
  text += fmt::format("  ROOT r = f32[1024]{{0}} negate(x{})\n}}\n", steps);
  auto module = fused(text);
  EXPECT_LE(module->instruction_count(), kGrowth * steps * 3);
  for (const Computation* c : module->computations()) EXPECT_LE(c->size(), 400);
}

// A cheap chain with many readers is copied into few of them or stays.
TEST(Growth, shared_chains_are_not_copied_everywhere) {
  const int chain = 60, readers = 300;
  std::string text = "ENTRY main {\n  x0 = f32[64,64]{1,0} parameter(0)\n";
  for (int n = 0; n < chain; ++n) text += fmt::format("  x{1} = f32[64,64]{{1,0}} negate(x{0})\n", n, n + 1);
  std::string results, shapes;
  for (int n = 0; n < readers; ++n) {
    text += fmt::format(
        "  b{0} = f32[64,64]{{1,0}} dot(x{1}, x0), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n",
        n, chain);
    text += fmt::format("  r{0} = f32[64,64]{{1,0}} multiply(b{0}, x{1})\n", n, chain);
    results += fmt::format("{}r{}", n ? ", " : "", n);
    shapes += n ? ", f32[64,64]" : "f32[64,64]";
  }
  text += fmt::format("  ROOT t = ({}) tuple({})\n}}\n", shapes, results);
  auto module = fused(text);
  EXPECT_LE(module->instruction_count(), kGrowth * (chain + 2 * readers));
}

TEST(Growth, costly_work_is_written_once) {
  auto module = fused(R"(ENTRY main {
    x = f32[128]{0} parameter(0)
    e = f32[128]{0} exponential(x)
    a = f32[128,4]{1,0} broadcast(e), dimensions={0}
    b = f32[4,128]{1,0} broadcast(e), dimensions={1}
    n = f32[128]{0} negate(e)
    ROOT t = (f32[128,4], f32[4,128], f32[128]) tuple(a, b, n)
  })");
  EXPECT_EQ(count(*module, Op::exponential), 1);
}

// 20,000 instructions in a few seconds, and ten times more cost about ten times as much.
TEST(Growth, time_is_nearly_linear) {
  auto seconds = [](int size) {
    std::string text =
        "ENTRY main {\n  x0 = f32[64,64]{1,0} parameter(0)\n  x1 = f32[64,64]{1,0} parameter(1)\n";
    for (int n = 2; n < size; ++n) {
      const int a = n - 1, b = n - 2 - (n * 7) % std::min(n - 1, 40);
      if (n % 9 == 0)
        text += fmt::format(
            "  x{} = f32[64,64]{{1,0}} dot(x{}, x{}), lhs_contracting_dims={{1}}, "
            "rhs_contracting_dims={{0}}\n",
            n, a, std::max(b, 0));
      else
        text += fmt::format("  x{} = f32[64,64]{{1,0}} {}(x{}, x{})\n", n, n % 3 ? "add" : "multiply", a,
                            std::max(b, 0));
    }
    text += fmt::format("  ROOT r = f32[64,64]{{1,0}} negate(x{})\n}}\n", size - 1);
    auto module = parse("HloModule m\n" + text);
    auto start = std::chrono::steady_clock::now();
    fuse(*module, PassContext());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const double small = std::min(seconds(2000), seconds(2000)), large = seconds(20000);
  EXPECT_LT(large, 40 * small + 0.5) << small;
  EXPECT_LT(large, 20);
}

TEST(Unfuse, puts_the_body_back) {
  auto module = fused(R"(ENTRY main {
    x = f32[128]{0} parameter(0)
    y = f32[128]{0} negate(x)
    ROOT z = f32[128]{0} tanh(y)
  })");
  Instruction* fusion = module->entry()->root();
  ASSERT_TRUE(fusion->is(Op::fusion));
  unfuse(fusion);
  EXPECT_TRUE(module->entry()->root()->is(Op::tanh));
  verify(*module);
}

}  // namespace
}  // namespace armillary
