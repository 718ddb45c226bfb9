// reduce: a balanced tree over the reduced elements in their order, so that rounding errors grow with the
// logarithm of their number; one after the other when the computation is no monoid.
#include "xla_core/hlo/associative.h"
#include "xla_core/interp/dense.h"
#include "xla_core/interp/evaluation.h"

namespace armillary {
namespace {

// Elements first + step * i of each of `rows` rows of `length`, i < count, gathered into one column.
Literal pick(const Literal& from, int64_t rows, int64_t length, int64_t first, int64_t step, int64_t count) {
  Literal column(Shape(from.dtype(), {rows * count}));
  copy_elements(byte_size(from.dtype()), from.bytes(), column.bytes(), rows * count,
                [&](int64_t k) { return k / count * length + first + k % count * step; });
  return column;
}

// Rows of `half` results with, when the length was odd, the leftover last element behind each.
Literal with_leftover(const Literal& results, const Literal& from, int64_t rows, int64_t length) {
  const int64_t half = length / 2;
  const size_t bytes = static_cast<size_t>(byte_size(results.dtype()));
  Literal joined(Shape(results.dtype(), {rows * (half + 1)}));
  for (int64_t r = 0; r < rows; ++r) {
    std::byte* to = joined.bytes() + r * (half + 1) * static_cast<int64_t>(bytes);
    std::memcpy(to, results.bytes() + r * half * static_cast<int64_t>(bytes),
                static_cast<size_t>(half) * bytes);
    std::memcpy(to + half * static_cast<int64_t>(bytes),
                from.bytes() + ((r + 1) * length - 1) * static_cast<int64_t>(bytes), bytes);
  }
  return joined;
}

// Combines neighbours until one element a row is left.
void fold_rows(ScalarFunction& body, std::vector<Literal>& values, int64_t rows, int64_t length) {
  for (; length > 1; length = (length + 1) / 2) {
    std::vector<Literal> columns;
    for (int64_t side = 0; side < 2; ++side)
      for (const Literal& v : values) columns.push_back(pick(v, rows, length, side, 2, length / 2));
    std::vector<Literal> results = body.map(columns, rows * (length / 2));
    if (length % 2)
      for (size_t k = 0; k < results.size(); ++k)
        results[k] = with_leftover(results[k], values[k], rows, length);
    values = std::move(results);
  }
}

// Combines one element after the other with what is accumulated, in each row.
void fold_in_order(ScalarFunction& body, std::vector<Literal>& accumulated,
                   const std::vector<Literal>& values, int64_t rows, int64_t length) {
  for (int64_t at = 0; at < length; ++at) {
    std::vector<Literal> columns = accumulated;
    for (const Literal& v : values) columns.push_back(pick(v, rows, length, at, 1, 1));
    accumulated = body.map(columns, rows);
  }
}

Literal reduce(Evaluation& e, const Instruction& i, Operands operands) {
  const size_t n = operands.size() / 2;
  ScalarFunction& body = e.function(*i.callees().at(0));
  const Shape& input = operands[0].shape();
  const Dims reduced = i.attrs().ints(Attr::dimensions), kept = other_dims(input.rank(), reduced);
  const int64_t rows = product(selected(input.dims, kept)), length = product(selected(input.dims, reduced));
  const Shape& first = i.shape().is_tuple() ? i.shape().tuple[0] : i.shape();
  std::vector<Literal> values, columns(operands.begin() + static_cast<int64_t>(n), operands.end());
  const bool in_order = !associates(*i.callees().at(0));
  std::vector<Literal> initial;
  for (size_t k = 0; k < n; ++k) initial.push_back(pick(columns[k], 1, 1, 0, 0, rows));
  if (length > 0) {
    const Dims order = concatenated({kept, reduced});
    for (size_t k = 0; k < n; ++k) {
      // A body may accumulate in a wider type than the operand's.
      const Literal sorted =
          converted(permuted(operands[k], order), body.result_shape(static_cast<int64_t>(k)).dtype);
      values.push_back(sorted.reshaped(Shape(sorted.dtype(), {rows * length})));
    }
    if (in_order) {
      for (size_t k = 0; k < n; ++k) initial[k] = converted(initial[k], values[k].dtype());
      fold_in_order(body, initial, values, rows, length);
      values = std::move(initial);
    } else {
      fold_rows(body, values, rows, length);
      columns.insert(columns.end(), values.begin(), values.end());
      values = body.map(columns, rows);
    }
  } else {
    values = std::move(initial);
  }
  for (Literal& v : values) v = v.reshaped(Shape(v.dtype(), first.dims));
  return tuple_or_single(std::move(values), i.shape());
}

}  // namespace

std::span<const HandlerRow> reduction_handlers() {
  static constexpr HandlerRow rows[] = {{Op::reduce, reduce}};
  return rows;
}

}  // namespace armillary
