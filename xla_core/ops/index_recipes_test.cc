// Index recipes against a plain reading of what each op means, on small arrays whose elements are their own
// numbers.
#include <gtest/gtest.h>

#include "xla_core/ops/op.h"
#include "xla_core/ops/tiny_evaluator.h"

namespace armillary {
namespace {

struct Operand {
  Shape shape;
  std::vector<int64_t> values;
};

Operand counting(Dims dims, int64_t first = 0) {
  Operand x{Shape(DType::kS32, std::move(dims)), {}};
  for (int64_t i = 0; i < x.shape.num_elements(); ++i) x.values.push_back(first + i);
  return x;
}
Operand scalar(int64_t value) { return {Shape::scalar(DType::kS32), {value}}; }

struct Result {
  Shape shape;
  std::vector<int64_t> values;
};

// Infers the shape, checks the row and evaluates every element; loads out of range fail.
Result run(Op op, const std::vector<Operand>& operands, Attrs attrs, const Shape* stated = nullptr) {
  std::vector<const Shape*> shapes;
  for (const Operand& x : operands) shapes.push_back(&x.shape);
  const OpContext c{shapes, attrs, {}, stated};
  Result result{def(op).infer(c), {}};
  if (def(op).check) def(op).check(c);
  for (int64_t at = 0; at < result.shape.num_elements(); ++at) {
    Tape tape;
    TapeBuilder b(tape);
    TinyEvaluator evaluator;
    std::vector<Val> index(result.shape.dims.size());
    for (size_t d = 0; d < index.size(); ++d) {
      index[d] = {b.push({Prim::kIndex, DType::kS64, 0, -1, -1, -1, static_cast<int64_t>(d)}), -1,
                  DType::kS64};
      evaluator.index.push_back(at / strides_of(result.shape.dims)[d] % result.shape.dims[d]);
    }
    evaluator.element = [&](int operand, int64_t i, int) {
      EXPECT_TRUE(i >= 0 && i < operands[operand].shape.num_elements()) << "load of element " << i;
      return TinyEvaluator::wrap(operands[operand].shape.dtype, operands[operand].values.at(i));
    };
    const Val value =
        def(op).element(b, index, c, stated ? *stated : result.shape);  // layouts are the instruction's
    result.values.push_back(TinyEvaluator::as_signed(result.shape.dtype, evaluator.run(tape)[value.re]));
  }
  return result;
}

Attrs dimensions(Dims dims) {
  Attrs attrs;
  attrs.set(Attr::dimensions, std::move(dims));
  return attrs;
}

TEST(IndexRecipes, broadcast_repeats_along_new_dimensions) {
  const Shape stated(DType::kS32, {2, 3});
  EXPECT_EQ(run(Op::broadcast, {counting({3})}, dimensions({1}), &stated).values,
            (std::vector<int64_t>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(run(Op::broadcast, {counting({2})}, dimensions({0}), &stated).values,
            (std::vector<int64_t>{0, 0, 0, 1, 1, 1}));
}

TEST(IndexRecipes, transpose_permutes) {
  const Result r = run(Op::transpose, {counting({2, 3})}, dimensions({1, 0}));
  EXPECT_EQ(r.shape.dims, (Dims{3, 2}));
  EXPECT_EQ(r.values, (std::vector<int64_t>{0, 3, 1, 4, 2, 5}));
  const Result cube = run(Op::transpose, {counting({2, 3, 4})}, dimensions({2, 0, 1}));
  EXPECT_EQ(cube.shape.dims, (Dims{4, 2, 3}));
  EXPECT_EQ(cube.values[1 * 6 + 1 * 3 + 2], 1 * 12 + 2 * 4 + 1);
}

TEST(IndexRecipes, reshape_keeps_the_order_whatever_the_groups) {
  for (const auto& [from, to] : std::vector<std::pair<Dims, Dims>>{{{6}, {2, 3}},
                                                                   {{2, 3}, {6}},
                                                                   {{2, 3, 4}, {2, 12}},
                                                                   {{4, 3}, {2, 6}},
                                                                   {{1, 6, 1}, {6}},
                                                                   {{}, {1, 1}},
                                                                   {{1}, {}},
                                                                   {{2, 6, 5}, {3, 4, 5}},
                                                                   {{6, 1}, {1, 2, 3}}}) {
    const Shape stated(DType::kS32, to);
    const Result r = run(Op::reshape, {counting(from)}, {}, &stated);
    EXPECT_EQ(r.values, counting(to).values);
  }
}

TEST(IndexRecipes, reverse_runs_backwards) {
  EXPECT_EQ(run(Op::reverse, {counting({2, 3})}, dimensions({1})).values,
            (std::vector<int64_t>{2, 1, 0, 5, 4, 3}));
}

TEST(IndexRecipes, slice_starts_stops_and_strides) {
  Attrs attrs;
  attrs.set(Attr::slice, Slices{{1, 8, 3}});
  EXPECT_EQ(run(Op::slice, {counting({10})}, attrs).values, (std::vector<int64_t>{1, 4, 7}));
}

TEST(IndexRecipes, pad_puts_in_and_cuts_off) {
  auto padded = [](Dims dims, Padding padding) {
    Attrs attrs;
    attrs.set(Attr::padding, std::move(padding));
    return run(Op::pad, {counting(std::move(dims), 1), scalar(-9)}, attrs).values;
  };
  EXPECT_EQ(padded({3}, {{1, 2, 0}}), (std::vector<int64_t>{-9, 1, 2, 3, -9, -9}));
  EXPECT_EQ(padded({3}, {{0, 0, 1}}), (std::vector<int64_t>{1, -9, 2, -9, 3}));
  EXPECT_EQ(padded({3}, {{-1, 1, 1}}), (std::vector<int64_t>{-9, 2, -9, 3, -9}));
  EXPECT_EQ(padded({3}, {{-1, -1, 0}}), (std::vector<int64_t>{2}));
  EXPECT_EQ(padded({0}, {{1, 1, 0}}), (std::vector<int64_t>{-9, -9}));
}

TEST(IndexRecipes, concatenate_joins_and_skips_the_empty) {
  EXPECT_EQ(run(Op::concatenate, {counting({2}), counting({0}), counting({3}, 10)}, dimensions({0})).values,
            (std::vector<int64_t>{0, 1, 10, 11, 12}));
  EXPECT_EQ(run(Op::concatenate, {counting({2, 1}), counting({2, 2}, 10)}, dimensions({1})).values,
            (std::vector<int64_t>{0, 10, 11, 1, 12, 13}));
}

TEST(IndexRecipes, iota_counts_along_its_dimension) {
  Attrs attrs;
  attrs.set(Attr::iota_dimension, int64_t{0});
  const Shape stated(DType::kS32, {3, 2});
  EXPECT_EQ(run(Op::iota, {}, attrs, &stated).values, (std::vector<int64_t>{0, 0, 1, 1, 2, 2}));
}

TEST(IndexRecipes, dynamic_slices_are_clamped) {
  Attrs attrs;
  attrs.set(Attr::dynamic_slice_sizes, Dims{3});
  auto at = [&](int64_t start) {
    return run(Op::dynamic_slice, {counting({8}), scalar(start)}, attrs).values;
  };
  EXPECT_EQ(at(2), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(at(7), (std::vector<int64_t>{5, 6, 7}));
  EXPECT_EQ(at(-4), (std::vector<int64_t>{0, 1, 2}));
}

TEST(IndexRecipes, dynamic_updates_are_clamped) {
  auto at = [&](int64_t start) {
    return run(Op::dynamic_update_slice, {counting({5}), counting({2}, 50), scalar(start)}, {}).values;
  };
  EXPECT_EQ(at(1), (std::vector<int64_t>{0, 50, 51, 3, 4}));
  EXPECT_EQ(at(9), (std::vector<int64_t>{0, 1, 2, 50, 51}));
  EXPECT_EQ(at(-9), (std::vector<int64_t>{50, 51, 2, 3, 4}));
}

Attrs gather_attrs(Dims offset, Dims collapsed, Dims map, int64_t vector_dim, std::string sizes) {
  Attrs attrs;
  attrs.set(Attr::offset_dims, std::move(offset));
  attrs.set(Attr::collapsed_slice_dims, std::move(collapsed));
  attrs.set(Attr::start_index_map, std::move(map));
  attrs.set(Attr::index_vector_dim, vector_dim);
  attrs.set(Attr::slice_sizes, RawText{std::move(sizes)});
  return attrs;
}

TEST(IndexRecipes, gather_takes_rows_and_clamps) {
  const Operand rows{Shape(DType::kS32, {3}), {2, 0, 99}};
  const Result r = run(Op::gather, {counting({4, 2}), rows}, gather_attrs({1}, {0}, {0}, 1, "{1,2}"));
  EXPECT_EQ(r.shape.dims, (Dims{3, 2}));
  EXPECT_EQ(r.values, (std::vector<int64_t>{4, 5, 0, 1, 6, 7}));
}

TEST(IndexRecipes, gather_reads_index_vectors_from_any_dimension) {
  const Operand starts{Shape(DType::kS32, {2, 3}),
                       {0, 1, 2, 3, 0, 1}};  // column j is the point (row, column)
  const Result r = run(Op::gather, {counting({4, 5}), starts}, gather_attrs({0, 1}, {}, {0, 1}, 0, "{2,1}"));
  EXPECT_EQ(r.shape.dims, (Dims{2, 1, 3}));
  EXPECT_EQ(r.values, (std::vector<int64_t>{3, 5, 11, 8, 10, 16}));
}

TEST(IndexRecipes, gather_batches_with_its_indices) {
  Attrs attrs = gather_attrs({}, {1}, {1}, 1, "{1,1}");
  attrs.set(Attr::operand_batching_dims, Dims{0});
  attrs.set(Attr::start_indices_batching_dims, Dims{0});
  const Operand starts{Shape(DType::kS32, {3, 1}), {1, 0, 3}};
  EXPECT_EQ(run(Op::gather, {counting({3, 4}), starts}, attrs).values, (std::vector<int64_t>{1, 4, 11}));
}

TEST(IndexRecipes, bitcast_convert_splits_and_joins_little_endian) {
  const Shape bytes(DType::kS8, {2, 4}), words(DType::kS32, {2});
  const Operand x{words, {0x04030201, -1}};
  EXPECT_EQ(run(Op::bitcast_convert, {x}, {}, &bytes).values,
            (std::vector<int64_t>{1, 2, 3, 4, -1, -1, -1, -1}));
  const Operand y{bytes, {1, 2, 3, 4, -1, -1, -1, -1}};
  EXPECT_EQ(run(Op::bitcast_convert, {y}, {}, &words).values, (std::vector<int64_t>{0x04030201, -1}));
  const Shape nibbles(DType::kS4, {1, 2});
  EXPECT_EQ(run(Op::bitcast_convert, {Operand{Shape(DType::kS8, {1}), {0x2f}}}, {}, &nibbles).values,
            (std::vector<int64_t>{-1, 2}));
}

TEST(IndexRecipes, bitcast_convert_takes_a_pred_as_a_byte) {
  const Shape preds(DType::kPred, {1, 4}), word(DType::kS32, {1}), bytes(DType::kU8, {1, 4});
  const Operand p{preds, {1, 0, 1, 1}};
  EXPECT_EQ(run(Op::bitcast_convert, {p}, {}, &word).values, (std::vector<int64_t>{0x01010001}));
  EXPECT_EQ(run(Op::bitcast_convert, {p}, {}, &bytes).values, p.values);
  EXPECT_EQ(run(Op::bitcast_convert, {Operand{word, {0x01010001}}}, {}, &preds).values,
            (std::vector<int64_t>{-1, 0, -1, -1}));  // a single set bit, read as a signed number
}

TEST(IndexRecipes, bitcast_follows_the_layouts) {
  const Operand x = counting({2, 3});
  Shape stated(DType::kS32, {3, 2});
  stated.layout = Layout{{0, 1}};  // column-major 3x2 lies in memory as row-major 2x3
  EXPECT_EQ(run(Op::bitcast, {x}, {}, &stated).values, (std::vector<int64_t>{0, 3, 1, 4, 2, 5}));
}

}  // namespace
}  // namespace armillary
