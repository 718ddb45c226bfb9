// Laws of the table itself.
#include <gtest/gtest.h>

#include <set>

#include "xla_core/ops/op.h"
#include "xla_core/ops/tiny_evaluator.h"

namespace armillary {
namespace {

TEST(OpTable, has_one_row_an_op_in_enum_order) {
  ASSERT_EQ(all_ops().size(), 136u);
  for (size_t i = 0; i < all_ops().size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(all_ops()[i].op), i);
    EXPECT_EQ(op_from_name(all_ops()[i].name), &all_ops()[i]);
  }
}

TEST(OpTable, every_row_has_a_doc_of_one_sentence) {
  for (const OpDef& row : all_ops()) {
    EXPECT_FALSE(row.doc.empty()) << row.name;
    EXPECT_TRUE(row.doc.ends_with('.')) << row.name;
  }
}

TEST(OpTable, every_row_has_exactly_the_recipe_of_its_meaning) {
  for (const OpDef& row : all_ops()) {
    EXPECT_EQ(row.scalar != nullptr, row.meaning == Meaning::kScalar) << row.name;
    EXPECT_EQ(row.element != nullptr, row.meaning == Meaning::kIndex) << row.name;
    EXPECT_EQ(!row.factors.empty(), row.meaning == Meaning::kFactors) << row.name;
    EXPECT_EQ(row.has(kElementwise), row.meaning == Meaning::kScalar) << row.name;
  }
}

TEST(OpTable, a_row_without_inference_says_that_it_needs_its_shape) {
  for (const OpDef& row : all_ops())
    if (row.infer == nullptr) {
      EXPECT_TRUE(row.has(kNeedsShape)) << row.name;
    }
}

TEST(OpTable, attributes_of_a_row_are_named_once) {
  for (const OpDef& row : all_ops()) {
    std::set<Attr> seen;
    for (Attr a : row.attrs) EXPECT_TRUE(seen.insert(a).second) << row.name << " " << to_string(a);
    for (Attr a : row.optional) EXPECT_TRUE(seen.insert(a).second) << row.name << " " << to_string(a);
  }
}

TEST(OpTable, commutative_rows_take_two_operands) {
  std::set<std::string_view> names;
  for (const OpDef& row : all_ops())
    if (row.has(kCommutative)) {
      EXPECT_EQ(row.arity, 2) << row.name;
      names.insert(row.name);
    }
  EXPECT_EQ(names, (std::set<std::string_view>{"add", "multiply", "mulhi", "maximum", "minimum", "and", "or",
                                               "xor"}));
}

TEST(OpTable, what_may_be_reduced_with_has_an_identity) {
  std::set<std::string_view> names;
  for (const OpDef& row : all_ops())
    if (row.identity != nullptr) {
      EXPECT_TRUE(row.has(kCommutative) && row.has(kElementwise)) << row.name;
      names.insert(row.name);
    }
  EXPECT_EQ(names, (std::set<std::string_view>{"add", "multiply", "maximum", "minimum", "and", "or", "xor"}));
}

bool takes(const OpDef& row, DType d) {
  const Shape scalar = Shape::scalar(d), *operands[] = {&scalar, &scalar};
  const Attrs none;
  try {
    row.infer({operands, none, {}});
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(OpTable, an_identity_changes_nothing) {
  const Attrs none;
  for (const OpDef& row : all_ops())
    for (DType d : {DType::kPred, DType::kS8, DType::kU8, DType::kS32, DType::kU64, DType::kF32, DType::kF64})
      for (double value : {0.0, 1.0}) {
        if (row.identity == nullptr || !takes(row, d)) continue;
        Tape tape;
        TapeBuilder b(tape);
        const Val x = b.constant(d, value);
        const std::vector<Val> both = {row.identity(b, d), x};
        const Val y = row.scalar(b, both, {{}, none, {}}, d);
        const std::vector<TinyEvaluator::Bits> bits = TinyEvaluator().run(tape);
        EXPECT_EQ(bits[y.re], bits[x.re]) << row.name << " " << to_string(d) << " " << value;
      }
}

TEST(OpTable, costs_are_said_once) {
  for (const OpDef& row : all_ops()) {
    EXPECT_FALSE(row.has(kFree) && row.has(kExpensive)) << row.name;
    EXPECT_TRUE(row.body_runs == nullptr || (row.has(kCallsEmbedded) && row.flops == nullptr)) << row.name;
    EXPECT_TRUE(row.bytes_written == nullptr || row.has(kOverwrites)) << row.name;
    EXPECT_FALSE(row.has(kRenames) && row.has(kNoTraffic)) << row.name;
  }
}

TEST(OpTable, fixed_arities_are_those_of_hlo) {
  const std::pair<Op, int> expected[] = {{Op::batch_norm_grad, 5}, {Op::ragged_all_to_all, 6},
                                         {Op::ragged_dot, 3},      {Op::scaled_dot, 4},
                                         {Op::select, 3},          {Op::clamp, 3},
                                         {Op::gather, 2},          {Op::iota, 0},
                                         {Op::while_, 1},          {Op::pad, 2},
                                         {Op::negate, 1},          {Op::stochastic_convert, 2}};
  for (auto [op, arity] : expected) EXPECT_EQ(def(op).arity, arity) << def(op).name;
}

TEST(OpTable, an_unknown_name_finds_its_nearest_neighbour) {
  EXPECT_EQ(op_from_name("adddd"), nullptr);
  EXPECT_EQ(nearest_op_name("adddd"), "add");
  EXPECT_EQ(nearest_op_name("tranpose"), "transpose");
  EXPECT_EQ(nearest_op_name("dynamic_slice"), "dynamic-slice");
  EXPECT_EQ(nearest_op_name("hlomodule"), "");
  EXPECT_EQ(nearest_op_name(std::string(1 << 20, 'x')), "");
}

TEST(Attr, names_and_kinds_go_both_ways) {
  Attr a;
  ASSERT_TRUE(attr_from_name("lhs_contracting_dims", &a));
  EXPECT_EQ(a, Attr::lhs_contracting_dims);
  EXPECT_EQ(kind_of(a), AttrKind::Ints);
  EXPECT_EQ(to_string(a), "lhs_contracting_dims");
  EXPECT_FALSE(attr_from_name("lhs_contracting", &a));
}

TEST(Attr, a_map_stays_sorted_and_replaces) {
  Attrs attrs;
  attrs.set(Attr::window, Window{});
  attrs.set(Attr::dimensions, Dims{1});
  attrs.set(Attr::dimensions, Dims{2, 3});
  EXPECT_EQ(attrs.ints(Attr::dimensions), (Dims{2, 3}));
  EXPECT_LT(attrs.begin()->first, std::next(attrs.begin())->first);
  attrs.erase(Attr::window);
  EXPECT_FALSE(attrs.has(Attr::window));
  EXPECT_TRUE(attrs.window().dims.empty());
}

TEST(Attr, a_missing_or_differently_typed_value_is_an_internal_error) {
  Attrs attrs;
  EXPECT_THROW(attrs.integer(Attr::index), Error);
  attrs.set(Attr::index, Dims{1});
  EXPECT_THROW(attrs.integer(Attr::index), Error);
  EXPECT_EQ(attrs.integer(Attr::k, 7), 7);
}

TEST(Attr, integer_lists_are_read_or_refused) {
  EXPECT_EQ(parse_int_list("{1,128}"), (Dims{1, 128}));
  EXPECT_EQ(parse_int_list(" { 1 , -2 } "), (Dims{1, -2}));
  EXPECT_TRUE(parse_int_list("{}").empty());
  for (std::string_view bad : {"", "{", "{1", "{1,}", "1,2", "{1}x", "{a}", "{99999999999999999999}"})
    EXPECT_THROW(parse_int_list(bad), Error) << bad;
}

TEST(Windows, result_sizes_count_whole_windows) {
  EXPECT_EQ(window_output_size(5, {.size = 3}), 3);
  EXPECT_EQ(window_output_size(5, {.size = 3, .stride = 2}), 2);
  EXPECT_EQ(window_output_size(5, {.size = 3, .pad_low = 1, .pad_high = 1}), 5);
  EXPECT_EQ(window_output_size(5, {.size = 3, .lhs_dilate = 2}), 7);
  EXPECT_EQ(window_output_size(5, {.size = 3, .rhs_dilate = 2}), 1);
  EXPECT_EQ(window_output_size(2, {.size = 3}), 0);
  EXPECT_EQ(window_output_size(0, {.size = 1, .pad_low = 2}), 2);
}

}  // namespace
}  // namespace armillary
