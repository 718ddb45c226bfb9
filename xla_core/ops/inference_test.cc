// Shape inference and checks, family by family: right input gives the shape, wrong input gives a message that
// shows both sides.
#include <gtest/gtest.h>

#include "xla_core/ops/op.h"

namespace armillary {
namespace {

constexpr DType kF32 = DType::kF32, kS32 = DType::kS32, kPred = DType::kPred;

Shape f32(Dims dims = {}) { return Shape(kF32, std::move(dims)); }
Shape s32(Dims dims = {}) { return Shape(kS32, std::move(dims)); }
Shape pred(Dims dims = {}) { return Shape(kPred, std::move(dims)); }

struct Call {
  Op op;
  std::vector<Shape> operands;
  Attrs attrs = {};
  std::vector<ProgramShape> callees = {};
  std::optional<Shape> stated = {};
};

// "f32[2,3]", or the message of the error.
std::string infer(const Call& call) {
  std::vector<const Shape*> operands;
  for (const Shape& x : call.operands) operands.push_back(&x);
  const OpContext c{operands, call.attrs, call.callees, call.stated ? &*call.stated : nullptr};
  try {
    const Shape result = def(call.op).infer(c);
    if (def(call.op).check) def(call.op).check(c);
    return to_string(result);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kUser) << e.what();
    return e.message();
  }
}

Attrs attrs(std::vector<std::pair<Attr, AttrValue>> entries) {
  Attrs result;
  for (auto& [a, value] : entries) result.set(a, std::move(value));
  return result;
}
Attrs dims_attr(Dims dims) { return attrs({{Attr::dimensions, std::move(dims)}}); }

TEST(Inference, elementwise_operands_have_one_shape) {
  EXPECT_EQ(infer({Op::add, {f32({4}), f32({4})}}), "f32[4]");
  EXPECT_EQ(infer({Op::add, {f32({4}), s32({4})}}), "operand 1 is s32[4], but add needs f32[4]");
  EXPECT_EQ(infer({Op::add, {f32({4}), f32({5})}}), "operand 1 is f32[5], but add needs f32[4]");
  EXPECT_EQ(infer({Op::add, {f32({4})}}), "add has 1 operands, but needs 2");
  EXPECT_EQ(infer({Op::cosine, {s32({4})}}),
            "operand 0 is s32[4], but cosine needs a floating-point or complex array");
  EXPECT_EQ(infer({Op::and_, {f32({4}), f32({4})}}),
            "operand 0 is f32[4], but and needs a pred or integer array");
  EXPECT_EQ(infer({Op::negate, {Shape::token()}}),
            "operand 0 is token[], but negate needs an integer, floating-point or complex array");
}

TEST(Inference, parts_and_predicates_change_the_type) {
  const Shape z(DType::kC64, {3});
  EXPECT_EQ(infer({Op::abs, {z}}), "f32[3]");
  EXPECT_EQ(infer({Op::real, {z}}), "f32[3]");
  EXPECT_EQ(infer({Op::complex, {f32({3}), f32({3})}}), "c64[3]");
  EXPECT_EQ(infer({Op::is_finite, {f32({3})}}), "pred[3]");
  EXPECT_EQ(infer({Op::compare, {s32({3}), s32({3})}, attrs({{Attr::direction, std::string("LT")}})}),
            "pred[3]");
  EXPECT_EQ(infer({Op::compare, {z, z}, attrs({{Attr::direction, std::string("LT")}})}),
            "operand 0 is c64[3], but compare with direction=LT needs an ordered type");
  EXPECT_EQ(infer({Op::compare, {z, z}, attrs({{Attr::direction, std::string("<")}})}),
            "direction=< of compare is none of EQ, NE, LT, LE, GT, GE");
}

TEST(Inference, select_and_clamp_take_scalars_beside_arrays) {
  EXPECT_EQ(infer({Op::select, {pred(), f32({4}), f32({4})}}), "f32[4]");
  EXPECT_EQ(infer({Op::select, {pred({4}), f32({4}), f32({4})}}), "f32[4]");
  EXPECT_EQ(infer({Op::select, {pred({3}), f32({4}), f32({4})}}),
            "operand 0 is pred[3], but select needs pred[4]");
  EXPECT_EQ(infer({Op::clamp, {f32(), f32({4}), f32({4})}}), "f32[4]");
  EXPECT_EQ(infer({Op::clamp, {s32(), f32({4}), f32({4})}}), "operand 0 is s32[], but clamp needs f32[]");
}

TEST(Inference, bitcast_convert_splits_and_joins_the_last_dimension) {
  EXPECT_EQ(infer({Op::bitcast_convert, {f32({4})}, {}, {}, s32({4})}), "s32[4]");
  EXPECT_EQ(infer({Op::bitcast_convert, {f32({4})}, {}, {}, Shape(DType::kU8, {4, 4})}), "u8[4,4]");
  EXPECT_EQ(infer({Op::bitcast_convert, {Shape(DType::kU8, {5, 4})}, {}, {}, f32({5})}), "f32[5]");
  EXPECT_EQ(infer({Op::bitcast_convert, {Shape(DType::kU8, {5, 3})}, {}, {}, f32({5})}),
            "operand 0 is u8[5,3], but bitcast-convert to f32 needs a last dimension of size 4");
}

TEST(Inference, movement_checks_its_dimensions) {
  EXPECT_EQ(infer({Op::transpose, {f32({2, 3})}, dims_attr({1, 0})}), "f32[3,2]");
  EXPECT_EQ(infer({Op::transpose, {f32({2, 3})}, dims_attr({1, 1})}),
            "dimensions={1,1} of transpose names dimension 1 twice");
  EXPECT_EQ(infer({Op::transpose, {f32({2, 3})}, dims_attr({0, 2})}),
            "dimensions of transpose names dimension 2, but there are 2 dimensions");
  EXPECT_EQ(infer({Op::transpose, {f32({2, 3})}}), "transpose needs the attribute dimensions");
  EXPECT_EQ(infer({Op::broadcast, {f32({3})}, dims_attr({1}), {}, f32({2, 3})}), "f32[2,3]");
  EXPECT_EQ(infer({Op::broadcast, {f32({3})}, dims_attr({0}), {}, f32({2, 3})}),
            "operand 0 is f32[3], but broadcast needs size 2 in dimension 0 (dimension 0 of the result)");
  EXPECT_EQ(infer({Op::reshape, {f32({2, 3})}, {}, {}, f32({7})}),
            "operand 0 is f32[2,3] with 6 elements, but reshape needs 7 for f32[7]");
  EXPECT_EQ(infer({Op::concatenate, {f32({2, 3}), f32({2, 4})}, dims_attr({1})}), "f32[2,7]");
  EXPECT_EQ(infer({Op::concatenate, {f32({2, 3}), f32({3, 3})}, dims_attr({1})}),
            "operand 1 is f32[3,3], but concatenate along dimension 1 needs size 2 in dimension 0");
  EXPECT_EQ(infer({Op::slice, {f32({10})}, attrs({{Attr::slice, Slices{{1, 8, 3}}}})}), "f32[3]");
  EXPECT_EQ(infer({Op::slice, {f32({10})}, attrs({{Attr::slice, Slices{{1, 11, 1}}}})}),
            "slice [1:11] in dimension 0 does not lie inside operand 0, which is f32[10]");
  EXPECT_EQ(infer({Op::pad, {f32({3}), f32()}, attrs({{Attr::padding, Padding{{1, -2, 1}}}})}), "f32[4]");
  EXPECT_EQ(infer({Op::pad, {f32({3}), f32()}, attrs({{Attr::padding, Padding{{-4, 0, 0}}}})}),
            "padding -4_0_0 of pad makes the size of dimension 0 of f32[3] impossible");
  EXPECT_EQ(infer({Op::dynamic_slice, {f32({8}), s32()}, attrs({{Attr::dynamic_slice_sizes, Dims{9}}})}),
            "dynamic_slice_sizes={9} does not fit into operand 0, which is f32[8]");
  EXPECT_EQ(infer({Op::dynamic_update_slice, {f32({8, 2}), f32({3, 2}), s32(), s32()}}), "f32[8,2]");
}

TEST(Inference, element_counts_must_not_overflow) {
  const int64_t large = int64_t{1} << 40;
  EXPECT_NE(infer({Op::broadcast, {f32()}, {}, {}, f32({large, large})}).find("elements"), std::string::npos);
  EXPECT_NE(infer({Op::pad,
                   {f32({3}), f32()},
                   attrs({{Attr::padding, Padding{{std::numeric_limits<int64_t>::max(), 1, 0}}}})})
                .find("impossible"),
            std::string::npos);
}

TEST(Inference, dots_join_what_they_do_not_contract) {
  const Attrs batched = attrs({{Attr::lhs_batch_dims, Dims{0}},
                               {Attr::rhs_batch_dims, Dims{0}},
                               {Attr::lhs_contracting_dims, Dims{2}},
                               {Attr::rhs_contracting_dims, Dims{1}}});
  EXPECT_EQ(infer({Op::dot, {f32({5, 2, 3}), f32({5, 3, 4})}, batched}), "f32[5,2,4]");
  EXPECT_EQ(infer({Op::dot, {f32({5, 2, 3}), f32({5, 7, 4})}, batched}),
            "dimension 2 of operand 0 (f32[5,2,3]) and dimension 1 of operand 1 (f32[5,7,4]) of dot must "
            "have one size, but have 3 and 7");
  const Shape bytes(DType::kS8, {2, 3});
  const Attrs plain = attrs({{Attr::lhs_contracting_dims, Dims{1}}, {Attr::rhs_contracting_dims, Dims{1}}});
  EXPECT_EQ(infer({Op::dot, {bytes, bytes}, plain, {}, s32({2, 2})}), "s32[2,2]");
  EXPECT_EQ(infer({Op::dot, {f32({2}), f32({3})}}), "f32[2,3]");
  EXPECT_NE(infer({Op::dot,
                   {f32({2, 2}), f32({2, 2})},
                   attrs({{Attr::lhs_contracting_dims, Dims{5}}, {Attr::rhs_contracting_dims, Dims{0}}})})
                .find("dimension 5"),
            std::string::npos);
}

Attrs conv_attrs(Window window, int64_t feature_groups = 1, int64_t batch_groups = 1) {
  ConvDims d;  // b01f_01io->b01f
  d.input_batch = 0, d.input_feature = 3, d.input_spatial = {1, 2};
  d.kernel_input_feature = 2, d.kernel_output_feature = 3, d.kernel_spatial = {0, 1};
  d.output_batch = 0, d.output_feature = 3, d.output_spatial = {1, 2};
  return attrs({{Attr::dim_labels, d},
                {Attr::window, std::move(window)},
                {Attr::feature_group_count, feature_groups},
                {Attr::batch_group_count, batch_groups}});
}

TEST(Inference, convolutions_slide_and_group) {
  const WindowDim same{.size = 3, .pad_low = 1, .pad_high = 1}, half{.size = 3, .stride = 2};
  EXPECT_EQ(infer({Op::convolution, {f32({2, 8, 9, 4}), f32({3, 3, 4, 6})}, conv_attrs({{same, half}})}),
            "f32[2,8,4,6]");
  EXPECT_EQ(infer({Op::convolution, {f32({2, 8, 9, 4}), f32({3, 3, 2, 6})}, conv_attrs({{same, half}}, 2)}),
            "f32[2,8,4,6]");
  EXPECT_EQ(
      infer({Op::convolution, {f32({2, 8, 9, 4}), f32({3, 3, 4, 6})}, conv_attrs({{same, half}}, 1, 2)}),
      "f32[1,8,4,6]");
  EXPECT_EQ(
      infer({Op::convolution, {f32({2, 8, 9, 4}), f32({3, 3, 3, 6})}, conv_attrs({{same, half}})}),
      "operand 1 is f32[3,3,3,6], but convolution needs 4 input features a group (4 features in 1 groups)");
  EXPECT_EQ(infer({Op::convolution, {f32({2, 8, 9, 4}), f32({5, 3, 4, 6})}, conv_attrs({{same, half}})}),
            "operand 1 is f32[5,3,4,6], but convolution needs 3 in dimension 0 by its window");
  EXPECT_NE(infer({Op::convolution,
                   {f32({2, 8, 9, 4}), f32({3, 3, 4, 6})},
                   conv_attrs({{WindowDim{.size = 3, .stride = 0}, half}})})
                .find("at least 1"),
            std::string::npos);
}

TEST(Inference, reductions_fold_by_their_computation) {
  const ProgramShape adds{{f32(), f32()}, f32()};
  const Attrs over =
      attrs({{Attr::dimensions, Dims{1}}, {Attr::to_apply, static_cast<Computation*>(nullptr)}});
  EXPECT_EQ(infer({Op::reduce, {f32({2, 3}), f32()}, over, {adds}}), "f32[2]");
  EXPECT_EQ(infer({Op::reduce,
                   {f32({2, 3}), s32({2, 3}), f32(), s32()},
                   over,
                   {{{f32(), s32(), f32(), s32()}, Shape::make_tuple({f32(), s32()})}}}),
            "(f32[2], s32[2])");
  EXPECT_EQ(infer({Op::reduce, {f32({2, 3}), f32()}, over, {{{f32(), s32()}, f32()}}}),
            "parameter 1 of the computation of reduce is s32[], but it is given f32[]");
  EXPECT_EQ(infer({Op::reduce, {f32({2, 3}), f32({1})}, over, {adds}}),
            "operand 1 is f32[1], but reduce needs a scalar");
  EXPECT_EQ(infer({Op::reduce, {f32({2, 3}), f32(), f32()}, over, {adds}}),
            "reduce has 3 operands, but needs n arrays and n initial values");
  const Attrs windows = attrs({{Attr::window, Window{{{.size = 2, .stride = 2}, {.size = 3}}}},
                               {Attr::to_apply, static_cast<Computation*>(nullptr)}});
  EXPECT_EQ(infer({Op::reduce_window, {f32({4, 5}), f32()}, windows, {adds}}), "f32[2,3]");
  EXPECT_EQ(infer({Op::reduce_window, {f32({4}), f32()}, windows, {adds}}),
            "window of reduce-window has 2 dimensions, but there are 1");
}

TEST(Inference, sorts_need_a_comparator_of_pairs) {
  const Attrs along =
      attrs({{Attr::dimensions, Dims{0}}, {Attr::to_apply, static_cast<Computation*>(nullptr)}});
  EXPECT_EQ(infer({Op::sort, {f32({4}), s32({4})}, along, {{{f32(), f32(), s32(), s32()}, pred()}}}),
            "(f32[4], s32[4])");
  EXPECT_EQ(infer({Op::sort, {f32({4})}, along, {{{f32(), f32()}, s32()}}}),
            "the computation of sort returns s32[], but must return pred[]");
  EXPECT_EQ(infer({Op::topk, {f32({2, 9})}, attrs({{Attr::k, int64_t{3}}, {Attr::largest, true}})}),
            "(f32[2,3], s32[2,3])");
}

TEST(Inference, scatters_take_windows_that_fit) {
  const Attrs rows = attrs({{Attr::update_window_dims, Dims{1}},
                            {Attr::inserted_window_dims, Dims{0}},
                            {Attr::scatter_dims_to_operand_dims, Dims{0}},
                            {Attr::index_vector_dim, int64_t{1}},
                            {Attr::to_apply, static_cast<Computation*>(nullptr)}});
  const ProgramShape adds{{f32(), f32()}, f32()};
  EXPECT_EQ(infer({Op::scatter, {f32({5, 4}), s32({3}), f32({3, 4})}, rows, {adds}}), "f32[5,4]");
  EXPECT_EQ(infer({Op::scatter, {f32({5, 4}), s32({3}), f32({3, 6})}, rows, {adds}}),
            "operand 2 is f32[3,6], but scatter needs at most 4 in dimension 1 to fit into f32[5,4]");
  EXPECT_EQ(infer({Op::scatter, {f32({5, 4}), f32({3}), f32({3, 4})}, rows, {adds}}),
            "operand 1 is f32[3], but scatter needs an integer array");
}

TEST(Inference, gathers_name_as_many_offsets_as_slice_dimensions) {
  auto with = [](Dims offset, std::string sizes) {
    return attrs({{Attr::offset_dims, std::move(offset)},
                  {Attr::collapsed_slice_dims, Dims{0}},
                  {Attr::start_index_map, Dims{0}},
                  {Attr::index_vector_dim, int64_t{1}},
                  {Attr::slice_sizes, RawText{std::move(sizes)}}});
  };
  EXPECT_EQ(infer({Op::gather, {f32({5, 4}), s32({3})}, with({1}, "{1,4}")}), "f32[3,4]");
  EXPECT_EQ(infer({Op::gather, {f32({5, 4}), s32({3})}, with({1}, "{1,5}")}),
            "slice_sizes={1,5} of gather do not fit into operand 0, which is f32[5,4]");
  EXPECT_EQ(infer({Op::gather, {f32({5, 4}), s32({3})}, with({0, 1}, "{1,4}")}),
            "offset_dims={0,1} of gather must name 1 dimensions, one for each slice dimension that stays");
}

TEST(Inference, control_flow_agrees_with_its_computations) {
  const Shape state = Shape::make_tuple({s32(), f32({4})});
  const Attrs loop = attrs({{Attr::condition, static_cast<Computation*>(nullptr)},
                            {Attr::body, static_cast<Computation*>(nullptr)}});
  EXPECT_EQ(infer({Op::while_, {state}, loop, {{{state}, pred()}, {{state}, state}}}), "(s32[], f32[4])");
  EXPECT_EQ(infer({Op::while_, {state}, loop, {{{state}, pred()}, {{state}, s32()}}}),
            "the computation of while returns s32[], but must return (s32[], f32[4])");
  EXPECT_EQ(infer({Op::conditional, {pred(), f32(), s32()}, {}, {{{f32()}, f32()}, {{s32()}, f32()}}}),
            "f32[]");
  EXPECT_EQ(infer({Op::conditional, {pred(), f32()}, {}, {{{f32()}, f32()}}}),
            "conditional on pred[] has 1 branches, but needs 2");
  EXPECT_EQ(infer({Op::get_tuple_element, {state}, attrs({{Attr::index, int64_t{1}}})}), "f32[4]");
  EXPECT_NE(
      infer({Op::get_tuple_element, {state}, attrs({{Attr::index, int64_t{2}}})}).find("with 2 elements"),
      std::string::npos);
  const Attrs call = attrs({{Attr::to_apply, static_cast<Computation*>(nullptr)}});
  EXPECT_EQ(infer({Op::call, {f32()}, call, {{{f32(), f32()}, f32()}}}),
            "the computation of call takes 2 parameters, but it is given 1");
}

TEST(Inference, linear_algebra_knows_its_squares) {
  EXPECT_EQ(infer({Op::cholesky, {f32({2, 3, 3})}}), "f32[2,3,3]");
  EXPECT_EQ(infer({Op::cholesky, {f32({3, 4})}}),
            "operand 0 is f32[3,4], but cholesky needs square matrices in the last two dimensions");
  EXPECT_EQ(infer({Op::triangular_solve, {f32({3, 3}), f32({3, 5})}, attrs({{Attr::left_side, true}})}),
            "f32[3,5]");
  const Attrs real = attrs({{Attr::fft_type, std::string("RFFT")}, {Attr::fft_length, Dims{8}}});
  EXPECT_EQ(infer({Op::fft, {f32({2, 8})}, real}), "c64[2,5]");
  EXPECT_EQ(infer({Op::fft, {f32({2, 9})}, real}),
            "operand 0 is f32[2,9], but fft with fft_length={8} needs 8 in dimension 1");
  EXPECT_EQ(infer({Op::fft,
                   {Shape(DType::kC64, {2, 5})},
                   attrs({{Attr::fft_type, std::string("IRFFT")}, {Attr::fft_length, Dims{8}}})}),
            "f32[2,8]");
}

TEST(Inference, batch_norm_has_a_number_a_feature) {
  const Attrs a = attrs({{Attr::epsilon, 0.001}, {Attr::feature_index, int64_t{1}}});
  EXPECT_EQ(infer({Op::batch_norm_training, {f32({8, 3}), f32({3}), f32({3})}, a}),
            "(f32[8,3], f32[3], f32[3])");
  EXPECT_EQ(infer({Op::batch_norm_inference, {f32({8, 3}), f32({3}), f32({3}), f32({3}), f32({8})}, a}),
            "operand 4 is f32[8], but batch-norm-inference needs f32[3]");
}

TEST(Inference, collectives_resize_along_one_dimension) {
  EXPECT_EQ(infer({Op::all_gather, {f32({2, 4})}, dims_attr({0}), {}, f32({8, 4})}), "f32[8,4]");
  EXPECT_EQ(infer({Op::all_gather, {f32({2, 4})}, dims_attr({0}), {}, f32({8, 5})}),
            "all-gather gives f32[8,5], which does not fit f32[2,4] along dimension 0");
  EXPECT_EQ(infer({Op::all_reduce,
                   {f32({2}), f32({3})},
                   attrs({{Attr::to_apply, static_cast<Computation*>(nullptr)}}),
                   {{{f32(), f32()}, f32()}}}),
            "(f32[2], f32[3])");
  EXPECT_EQ(infer({Op::collective_permute_done, {Shape::make_tuple({f32({2}), f32({2}), s32(), s32()})}}),
            "f32[2]");
}

TEST(Inference, dynamic_dimensions_count_by_their_bound) {
  Shape bounded = f32({8});
  bounded.dynamic = {true};
  EXPECT_EQ(infer({Op::add, {bounded, f32({8})}, {}, {}, bounded}), "f32[<=8]");
  EXPECT_EQ(infer({Op::add, {f32({Shape::kUnbounded}), f32({8})}}), "f32[8]");
}

// Bad input never crashes: every row is given nonsense, and must answer with a shape or a user error.
TEST(Inference, every_row_refuses_nonsense_politely) {
  const Shape shapes[] = {f32(),          s32({2, 3}),           pred({0}),
                          Shape::token(), Shape::make_tuple({}), Shape(DType::kC64, {1, 1, 1})};
  const Dims lists[] = {{}, {0}, {7, -1}, {0, 0, 1}};
  for (const OpDef& row : all_ops()) {
    if (row.infer == nullptr) continue;
    for (size_t count = 0; count < 5; ++count)
      for (size_t s = 0; s < std::size(shapes); ++s)
        for (const Dims& list : lists) {
          Call call{row.op, std::vector<Shape>(count, shapes[s])};
          for (Attr a : row.attrs) {
            if (kind_of(a) == AttrKind::Ints) call.attrs.set(a, list);
            if (kind_of(a) == AttrKind::Int) call.attrs.set(a, static_cast<int64_t>(list.size()) - 1);
            if (kind_of(a) == AttrKind::Name || kind_of(a) == AttrKind::String)
              call.attrs.set(a, std::string("x"));
            if (kind_of(a) == AttrKind::Callee) call.attrs.set(a, static_cast<Computation*>(nullptr));
            if (kind_of(a) == AttrKind::Callees) call.attrs.set(a, std::vector<Computation*>(1));
            if (kind_of(a) == AttrKind::Raw) call.attrs.set(a, RawText{"{1,2}"});
            if (kind_of(a) == AttrKind::Slices) call.attrs.set(a, Slices(list.size()));
            if (kind_of(a) == AttrKind::ConvDims) call.attrs.set(a, ConvDims());
          }
          if (s % 2 == 0) call.stated = shapes[(s + count) % std::size(shapes)];
          if (count % 2 == 1) call.callees = {{{f32()}, f32()}};
          infer(call);
        }
  }
}

}  // namespace
}  // namespace armillary
