#include "xla_core/hlo/verify.h"

#include <gtest/gtest.h>

#include "xla_core/hlo/text.h"

namespace armillary {
namespace {

std::unique_ptr<Module> sample() {
  return parse(R"(HloModule m
f {
  a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a)
}

ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] exponential(x)
  ROOT z = f32[4] call(y), to_apply=f
}
)");
}

std::string broken(const Module& module, Stage stage = Stage::kParsed) {
  try {
    verify(module, stage);
    return "no law";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), stage == Stage::kParsed ? ErrorKind::kUser : ErrorKind::kInternal);
    return e.what();
  }
}

#define EXPECT_BROKEN(module, fragment, ...)                                             \
  EXPECT_NE(broken(module __VA_OPT__(, ) __VA_ARGS__).find(fragment), std::string::npos) \
      << broken(module __VA_OPT__(, ) __VA_ARGS__)

TEST(Verify, laws_are_numbered_in_order_and_checked_by_one_function_each) {
  int number = 0;
  for (const Law& law : laws()) {
    EXPECT_EQ(law.number, ++number);
    EXPECT_EQ((law.of_module != nullptr) + (law.of_computation != nullptr) + (law.of_instruction != nullptr),
              1)
        << law.text;
  }
}

TEST(Verify, a_good_module_breaks_no_law) { EXPECT_EQ(broken(*sample()), "no law"); }

TEST(Verify, a_module_needs_an_entry) {
  Module module("m");
  EXPECT_BROKEN(module, "has no entry computation");
}

TEST(Verify, operands_stand_before_users) {
  const auto m = sample();
  Computation* e = m->entry();
  e->move_before(e->root(), e->parameter(0));
  EXPECT_BROKEN(*m, "operand %y stands after its user");
}

TEST(Verify, operands_come_from_the_same_computation) {
  const auto m = sample();
  Instruction* z = m->entry()->root();
  z->replace_operand(0, z->callees()[0]->parameter(0));
  EXPECT_BROKEN(*m, "belongs to computation %f");
}

TEST(Verify, names_are_unique) {
  const auto m = sample();
  m->entry()->root()->set_name("a");
  EXPECT_BROKEN(*m, "the name %a is taken by an instruction of %f");
}

TEST(Verify, computations_do_not_call_themselves) {
  const auto m = sample();
  Computation* f = m->entry()->root()->callees()[0];
  Attrs attrs;
  attrs.set(Attr::to_apply, f);
  f->set_root(f->add(Op::call, f->root()->shape(), {f->root()}, attrs));
  EXPECT_BROKEN(*m, "computation %f calls itself");
}

TEST(Verify, shapes_follow_from_operands) {
  const auto m = sample();
  m->entry()->root()->operand(0)->set_shape(Shape(DType::kF32, {5}));
  EXPECT_BROKEN(*m, "the shape is stated as f32[5], but exponential gives f32[4]");
}

TEST(Verify, attributes_are_those_of_the_row) {
  const auto m = sample();
  m->entry()->root()->operand(0)->attrs().set(Attr::dimensions, Dims{0});
  EXPECT_BROKEN(*m, "attribute dimensions is not allowed on exponential");
}

TEST(Verify, partitioned_modules_have_shardings_at_the_edge_only) {
  const auto m = sample();
  m->entry()->parameter(0)->attrs().set(Attr::sharding, RawText{"{replicated}"});
  EXPECT_EQ(broken(*m, Stage::kPartitioned), "no law");
  m->entry()->root()->operand(0)->attrs().set(Attr::sharding, RawText{"{replicated}"});
  EXPECT_BROKEN(*m, "a sharding is left", Stage::kPartitioned);
}

TEST(Verify, laid_out_modules_have_layouts_that_elementwise_ops_keep) {
  const auto m = parse(
      "HloModule m\nENTRY e {\n x = f32[4,4]{1,0} parameter(0)\n ROOT y = f32[4,4]{1,0} negate(x)\n}\n");
  EXPECT_EQ(broken(*m, Stage::kLaidOut), "no law");
  EXPECT_BROKEN(*sample(), "has no layout", Stage::kLaidOut);
  Shape column_major = m->entry()->root()->shape();
  column_major.layout->minor_to_major = {0, 1};
  m->entry()->root()->set_shape(column_major);
  EXPECT_BROKEN(*m, "only copy changes a layout", Stage::kLaidOut);
}

TEST(Verify, fused_bodies_have_one_contraction) {
  const auto m = parse(R"(HloModule m
f {
  a = f32[4,4]{1,0} parameter(0)
  b = f32[4,4]{1,0} dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT c = f32[4,4]{1,0} dot(b, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
ENTRY e {
  x = f32[4,4]{1,0} parameter(0)
  ROOT y = f32[4,4]{1,0} fusion(x), kind=kOutput, calls=f
}
)");
  EXPECT_EQ(broken(*m, Stage::kLaidOut), "no law");
  EXPECT_BROKEN(*m, "the body has two contractions, %b and %c", Stage::kFused);
}

TEST(Verify, scheduled_modules_end_what_they_start) {
  const auto m = parse(R"(HloModule m, is_scheduled=true
ENTRY e {
  x = f32[4]{0} parameter(0)
  s = (f32[4]{0}, f32[4]{0}, u32[]{:T(128)}) copy-start(x)
  ROOT d = f32[4]{0} copy-done(s)
}
)");
  Instruction* done = m->entry()->root();
  for (Instruction* i : m->entry()->snapshot())
    if (i->shape().is_tuple()) {
      Shape s = i->shape();
      s.tuple[2].layout = Layout();
      i->set_shape(s);
    }
  EXPECT_EQ(broken(*m, Stage::kScheduled), "no law");
  m->entry()->set_root(m->entry()->parameter(0));
  m->entry()->erase(done);
  EXPECT_BROKEN(*m, "a start needs one done or update, found 0 users", Stage::kScheduled);
}

}  // namespace
}  // namespace armillary
