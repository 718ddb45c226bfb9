// Programs on the cpu against the interpreter, through the whole way.
#include "xla_core/client/client.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "xla_core/hlo/text.h"
#include "xla_core/interp/interpreter.h"

namespace armillary {
namespace {

Literal random_literal(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Literal literal(shape);
  for (int64_t i = 0; i < literal.size(); ++i) {
    if (is_float(shape.dtype)) {
      literal.set_double(i, normal(random));
    } else if (is_complex(shape.dtype)) {
      literal.set_complex(i, {normal(random), normal(random)});
    } else {
      literal.set_int(i, random() % 7);
    }
  }
  return literal;
}

void expect_close(const Literal& got, const Literal& want, double tolerance) {
  if (want.is_tuple()) {
    for (size_t k = 0; k < want.tuple().size(); ++k) expect_close(got.tuple()[k], want.tuple()[k], tolerance);
    return;
  }
  ASSERT_EQ(got.size(), want.size());
  for (int64_t i = 0; i < want.size(); ++i) {
    const double g = got.get_double(i), w = want.get_double(i);
    if (std::isnan(w) && std::isnan(g)) continue;
    ASSERT_NEAR(g, w, tolerance * std::max(1.0, std::abs(w)))
        << "element " << i << " of " << to_string(want.shape());
  }
}

// Compiles, runs with random arguments, and compares with the interpreter on the module as it was written.
void run_and_compare(std::string_view text, double tolerance = 1e-5) {
  auto module = parse(text);
  std::vector<Literal> values;
  std::vector<Argument> arguments;
  for (const Instruction* p : module->entry()->parameters()) {
    values.push_back(random_literal(p->shape().without_layout(), 7 + p->parameter_number()));
    arguments.push_back({values.back(), false});
  }
  const Literal want = evaluate(*module, values);
  auto executable = Executable::compile(module->clone());
  for (int round = 0; round < 2; ++round) {  // the second call meets a used arena
    std::vector<Literal> got = executable->execute(arguments);
    if (want.is_tuple()) {
      expect_close(Literal::make_tuple(std::move(got)), want, tolerance);
    } else {
      expect_close(got[0], want, tolerance);
    }
  }
}

// The computation keeps the left one of two NaNs, so the order shows.
TEST(Client, argmax_gives_the_first_of_several_nans) {
  const auto module = parse(R"(
f { a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  greater = pred[] compare(a, b), direction=GT
  nan = pred[] compare(a, a), direction=NE
  keep = pred[] or(greater, nan)
  equal = pred[] compare(a, b), direction=EQ
  before = pred[] compare(i, j), direction=LT
  first = pred[] and(equal, before)
  left = pred[] or(keep, first)
  v = f32[] select(keep, a, b)
  w = s32[] select(left, i, j)
  ROOT t = (f32[], s32[]) tuple(v, w) }
ENTRY e {
  p = f32[3,40] parameter(0)
  i = s32[3,40] iota(), iota_dimension=1
  least = f32[] constant(-inf)
  zero = s32[] constant(0)
  ROOT r = (f32[3], s32[3]) reduce(p, i, least, zero), dimensions={1}, to_apply=f })");
  Literal values(Shape(DType::kF32, {3, 40}));
  for (int64_t k : {11, 20, 37, 45, 46, 79, 80, 119}) values.set_double(k, std::nan(""));
  const Literal want = evaluate(*module, std::vector<Literal>{values});
  const std::vector<Literal> got =
      Executable::compile(module->clone())->execute(std::vector<Argument>{{values}});
  for (int64_t row = 0; row < 3; ++row) EXPECT_EQ(got[1].get_int(row), want.tuple()[1].get_int(row));
  EXPECT_EQ(got[1].get_int(0), 11);
}

TEST(Client, elementwise_chain) {
  run_and_compare(R"(
ENTRY e {
  p = f32[33,7] parameter(0)
  q = f32[33,7] parameter(1)
  a = f32[33,7] multiply(p, q)
  b = f32[33,7] exponential(a)
  ROOT c = f32[33,7] add(b, p)
})");
}

TEST(Client, dense_layer_with_softmax) {
  run_and_compare(R"(
add { x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y) }
max { x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] maximum(x, y) }
ENTRY e {
  x = f32[16,32] parameter(0)
  w = f32[32,10] parameter(1)
  b = f32[10] parameter(2)
  h = f32[16,10] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bb = f32[16,10] broadcast(b), dimensions={1}
  z = f32[16,10] add(h, bb)
  low = f32[] constant(-inf)
  m = f32[16] reduce(z, low), dimensions={1}, to_apply=max
  mb = f32[16,10] broadcast(m), dimensions={0}
  d = f32[16,10] subtract(z, mb)
  ex = f32[16,10] exponential(d)
  zero = f32[] constant(0)
  s = f32[16] reduce(ex, zero), dimensions={1}, to_apply=add
  sb = f32[16,10] broadcast(s), dimensions={0}
  ROOT r = f32[16,10] divide(ex, sb)
})");
}

TEST(Client, loop_with_swapped_state_and_an_update_in_place) {
  run_and_compare(R"(
cond { s = (s32[], f32[8], f32[8], f32[5,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT lt = pred[] compare(i, n), direction=LT }
body { t = (s32[], f32[8], f32[8], f32[5,8]) parameter(0)
  j = s32[] get-tuple-element(t), index=0
  x = f32[8] get-tuple-element(t), index=1
  y = f32[8] get-tuple-element(t), index=2
  out = f32[5,8] get-tuple-element(t), index=3
  one = s32[] constant(1)
  zero = s32[] constant(0)
  k = s32[] add(j, one)
  z = f32[8] sine(x)
  row = f32[1,8] reshape(z)
  next = f32[5,8] dynamic-update-slice(out, row, j, zero)
  ROOT r = (s32[], f32[8], f32[8], f32[5,8]) tuple(k, y, z, next) }
ENTRY e {
  z = s32[] constant(0)
  p = f32[8] parameter(0)
  q = f32[8] parameter(1)
  o = f32[5,8] parameter(2)
  init = (s32[], f32[8], f32[8], f32[5,8]) tuple(z, p, q, o)
  ROOT w = (s32[], f32[8], f32[8], f32[5,8]) while(init), condition=cond, body=body
})");
}

TEST(Client, state_that_a_loop_only_writes_survives_the_condition) {
  run_and_compare(R"(
cond { s = (s32[], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT lt = pred[] compare(i, n), direction=LT }
body { t = (s32[], s32[], s32[]) parameter(0)
  j = s32[] get-tuple-element(t), index=0
  one = s32[] constant(1)
  k = s32[] add(j, one)
  x = s32[] multiply(k, k)
  y = s32[] subtract(one, k)
  ROOT r = (s32[], s32[], s32[]) tuple(k, x, y) }
ENTRY e {
  p = s32[] parameter(0)
  q = s32[] parameter(1)
  u = s32[] add(p, q)
  v = s32[] multiply(p, q)
  start = s32[] constant(1)
  init = (s32[], s32[], s32[]) tuple(start, u, v)
  w = (s32[], s32[], s32[]) while(init), condition=cond, body=body
  a = s32[] get-tuple-element(w), index=1
  b = s32[] get-tuple-element(w), index=2
  c = s32[] multiply(a, b)
  none = s32[] constant(7)
  idle = (s32[], s32[], s32[]) tuple(none, c, a)
  z = (s32[], s32[], s32[]) while(idle), condition=cond, body=body
  d = s32[] get-tuple-element(z), index=1
  f = s32[] get-tuple-element(z), index=2
  ROOT g = s32[] subtract(d, f)
})");
}

TEST(Client, conditional_takes_the_branch_and_results_are_not_shared) {
  run_and_compare(R"(
yes { p = (f32[4], f32[4]) parameter(0)
  a = f32[4] get-tuple-element(p), index=0
  ROOT n = f32[4] negate(a) }
no { p = (f32[4], f32[4]) parameter(0)
  ROOT b = f32[4] get-tuple-element(p), index=1 }
ENTRY e {
  c = pred[] parameter(0)
  p = f32[4] parameter(1)
  q = f32[4] parameter(2)
  t = (f32[4], f32[4]) tuple(p, q)
  r = f32[4] conditional(c, t, t), true_computation=yes, false_computation=no
  ROOT u = (f32[4], f32[4], f32[4]) tuple(r, r, p)
})");
}

TEST(Client, donated_argument_is_overwritten_only_when_given_away) {
  auto executable = Executable::compile(parse(R"(
HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e {
  p = f32[4] parameter(0)
  ROOT n = f32[4] negate(p)
})"));
  Literal p(Shape(DType::kF32, {4}));
  p.set_double(2, 3);
  EXPECT_EQ(executable->execute(std::vector<Argument>{{p, false}})[0].get_double(2), -3);
  EXPECT_EQ(p.get_double(2), 3);
  const Literal got = executable->execute(std::vector<Argument>{{p, true}})[0];
  EXPECT_EQ(got.bytes(), p.bytes());
}

TEST(Client, wrong_arguments_are_named) {
  auto executable = Executable::compile(parse("ENTRY e { ROOT p = f32[4] parameter(0) }"));
  EXPECT_THROW(executable->execute({}), Error);
  Literal wrong(Shape(DType::kF32, {5}));
  try {
    executable->execute(std::vector<Argument>{{wrong, false}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("argument 0"), std::string::npos) << e.what();
  }
}

TEST(Client, bitcasts_read_the_layouts_that_the_text_states) {
  run_and_compare(R"(
column_major { a = f32[2,3]{0,1} parameter(0)
  ROOT b = f32[6] bitcast(a) }
ENTRY e {
  p = f32[2,3] parameter(0)
  called = f32[6] call(p), to_apply=column_major
  c = f32[2,3]{0,1} constant({{1, 2, 3}, {4, 5, 6}})
  n = f32[2,3]{0,1} negate(c)
  folded = f32[6] bitcast(n)
  i = s32[2,3]{0,1} convert(n)
  f = f32[2,3]{0,1} convert(i)
  mixed = f32[2,3]{0,1} add(p, f)
  back = f32[3,2]{0,1} bitcast(mixed)
  ROOT r = (f32[6], f32[6], f32[3,2]) tuple(called, folded, back)
})");
}

TEST(Client, bitcasts_may_change_the_width_of_elements) {
  run_and_compare(R"(
ENTRY e {
  p = s8[2,4]{0,1} parameter(0)
  wide = s16[4]{0} bitcast(p)
  q = f32[3] parameter(1)
  narrow = u8[4,3]{0,1} bitcast(q)
  ROOT r = (s16[4], u8[4,3]) tuple(wide, narrow)
})");
}

TEST(Client, gathered_slices_without_elements_are_zeros) {
  run_and_compare(R"(
ENTRY e {
  nothing = f32[0,2] parameter(0)
  some = f32[4,2] parameter(1)
  many = s32[3] parameter(2)
  one = s32[1] parameter(3)
  a = f32[3,2] gather(nothing, many), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={0,2}
  b = f32[3,2] gather(some, many), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={0,2}
  c = f32[1,2] gather(some, one), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={0,2}
  ROOT r = (f32[3,2], f32[3,2], f32[1,2]) tuple(a, b, c)
})");
}

TEST(Client, contractions_become_integers_after_the_sum) {
  run_and_compare(R"(
ENTRY e {
  p = f32[3,5] parameter(0)
  q = f32[5,2] parameter(1)
  d = s32[3,2] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  h = bf16[3,5] convert(p)
  g = f16[5,2] convert(q)
  n = u8[3,2] dot(h, g), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  x = f32[1,3,5] reshape(p)
  k = f32[2,5,1] parameter(2)
  v = s32[1,2,1] convolution(x, k), window={size=2}, dim_labels=b0f_0io->b0f
  z = c64[3,5] complex(p, p)
  m = f32[3,2] dot(z, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (s32[3,2], u8[3,2], s32[1,2,1], f32[3,2]) tuple(d, n, v, m)
})");
}

TEST(Client, large_windows_that_overlap_are_written_in_order) {
  run_and_compare(R"(
last { a = s32[] parameter(0)
  ROOT b = s32[] parameter(1) }
ENTRY e {
  x = s32[24,300] parameter(0)
  rows = s32[8,1] parameter(1)
  u = s32[8,16,300] parameter(2)
  ROOT s = s32[24,300] scatter(x, rows, u), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=last
})");
}

TEST(Client, what_cannot_run_is_named_with_its_place) {
  try {
    Executable::compile(parse(R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  ROOT r = f32[4] shuffle(p), dimensions={0}
})"));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(e.what()).find("unsupported: shuffle"), std::string::npos) << e.what();
  }
}

TEST(Client, a_start_without_its_done_is_the_programs_fault) {
  try {
    Executable::compile(parse(R"(
ENTRY e {
  p = f32[4] parameter(0)
  t = token[] after-all()
  ROOT s = (f32[4], u32[], token[]) send(p, t), channel_id=1
})"));
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.kind(), ErrorKind::kInternal) << e.what();
  }
}

TEST(Client, a_chain_of_calls_that_doubles_is_judged_once_a_computation) {
  std::string text = "c0 { p0 = f32[] parameter(0)\n ROOT r0 = f32[] negate(p0) }\n";
  for (int k = 1; k < 60; ++k)
    text += fmt::format(
        "c{0} {{ p{0} = f32[] parameter(0)\n a{0} = f32[] call(p{0}), to_apply=c{1}\n ROOT r{0} = f32[] "
        "call(a{0}), to_apply=c{1} }}\n",
        k, k - 1);
  const auto module =
      parse(text + "ENTRY e { p = f32[] parameter(0)\n ROOT r = f32[] call(p), to_apply=c59 }");
  EXPECT_FALSE(module->entry()->root()->has_effect());
}

}  // namespace
}  // namespace armillary
