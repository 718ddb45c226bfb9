// sort, topk and scan: ops that walk along one dimension in order.
#include <algorithm>
#include <bit>
#include <numeric>

#include "xla_core/interp/dense.h"
#include "xla_core/interp/evaluation.h"

namespace armillary {
namespace {

// Merges neighbouring runs until one is left; always stable, and at peace with comparators that contradict
// themselves.
template <class Less>
void merge_sort(std::vector<int64_t>& order, const Less& less) {
  const size_t n = order.size();
  std::vector<int64_t> merged(n);
  for (size_t run = 1; run < n; run *= 2) {
    for (size_t begin = 0; begin < n; begin += 2 * run) {
      const size_t middle = std::min(begin + run, n), end = std::min(begin + 2 * run, n);
      size_t a = begin, b = middle;
      for (size_t to = begin; to < end; ++to) {
        const bool take_second = b < end && (a == middle || less(order[b], order[a]));
        merged[to] = take_second ? order[b++] : order[a++];
      }
    }
    order.swap(merged);
  }
}

Literal sort(Evaluation& e, const Instruction& i, Operands operands) {
  ScalarFunction& comparator = e.function(*i.callees().at(0));
  const Shape& shape = operands[0].shape();
  const Dims& dimensions = i.attrs().ints(Attr::dimensions);
  const int64_t dim = dimensions.empty() ? 0 : dimensions[0];
  const int64_t length = shape.dims.at(static_cast<size_t>(dim)),
                stride = strides_of(shape.dims)[static_cast<size_t>(dim)];
  std::vector<Literal> results;
  for (const Literal& o : operands) results.push_back(o.clone());
  std::vector<const std::byte*> pair(2 * operands.size());
  std::vector<int64_t> order(static_cast<size_t>(length));
  for (int64_t row = 0; length > 1 && row < shape.num_elements() / length; ++row) {
    const int64_t base = row / stride * stride * length + row % stride;
    auto element = [&](size_t k, int64_t at) {
      return operands[k].bytes() + (base + at * stride) * byte_size(operands[k].dtype());
    };
    std::iota(order.begin(), order.end(), 0);
    merge_sort(order, [&](int64_t a, int64_t b) {
      for (size_t k = 0; k < operands.size(); ++k)
        pair[2 * k] = element(k, a), pair[2 * k + 1] = element(k, b);
      return comparator.test(pair);
    });
    for (size_t k = 0; k < operands.size(); ++k) {
      const int64_t bytes = byte_size(operands[k].dtype());
      for (int64_t at = 0; at < length; ++at)
        std::memcpy(results[k].bytes() + (base + at * stride) * bytes, element(k, order[at]),
                    static_cast<size_t>(bytes));
    }
  }
  return tuple_or_single(std::move(results), i.shape());
}

// Integers that are ordered as the elements are: totalorder on floats.
int64_t order_key(const Literal& literal, int64_t i) {
  if (literal.dtype() == DType::kU64) return literal.get_int(i) ^ std::numeric_limits<int64_t>::min();
  if (!is_float(literal.dtype())) return literal.get_int(i);
  const int64_t bits = std::bit_cast<int64_t>(literal.get_double(i));
  return bits < 0 ? bits ^ std::numeric_limits<int64_t>::max() : bits;
}

}  // namespace

Literal top_k(const Literal& input, bool largest, const Shape& shape) {
  const Dims& dims = shape.tuple.at(0).dims;
  const int64_t length = input.shape().dims.back(), k = dims.back();
  Literal values(Shape(input.dtype(), dims)), indices(Shape(DType::kS32, dims));
  std::vector<int64_t> order(static_cast<size_t>(length));
  const int64_t bytes = byte_size(input.dtype());
  for (int64_t row = 0; k > 0 && row < values.size() / k; ++row) {
    std::iota(order.begin(), order.end(), 0);
    merge_sort(order, [&](int64_t a, int64_t b) {
      const int64_t x = order_key(input, row * length + a), y = order_key(input, row * length + b);
      return largest ? x > y : x < y;
    });
    for (int64_t at = 0; at < k; ++at) {
      const std::byte* from = input.bytes() + (row * length + order[static_cast<size_t>(at)]) * bytes;
      std::memcpy(values.bytes() + (row * k + at) * bytes, from, static_cast<size_t>(bytes));
      indices.set_int(row * k + at, order[static_cast<size_t>(at)]);
    }
  }
  return tuple_or_single({values, indices}, shape);
}

namespace {

Literal topk(Evaluation&, const Instruction& i, Operands operands) {
  return top_k(operands[0], i.attrs().flag(Attr::largest, true), i.shape());
}

// One slice at position `at` of dimension 0.
Literal slice_of(const Literal& literal, int64_t at) {
  Shape shape(literal.dtype(), {literal.shape().dims.begin() + 1, literal.shape().dims.end()});
  Literal slice(std::move(shape));
  std::memcpy(slice.bytes(), literal.bytes() + at * slice.size_bytes(),
              static_cast<size_t>(slice.size_bytes()));
  return slice;
}

// The order of dimensions with `dim` first.
Dims front_order(int64_t rank, int64_t dim) { return concatenated({Dims{dim}, other_dims(rank, Dims{dim})}); }
Dims back_order(int64_t rank, int64_t dim) {
  const Dims front = front_order(rank, dim);
  Dims order(front.size());
  for (size_t d = 0; d < front.size(); ++d) order[static_cast<size_t>(front[d])] = static_cast<int64_t>(d);
  return order;
}

// Operands are inputs and initial carries; the body takes slices and carries, and gives output slices and
// carries.
Literal scan(Evaluation& e, const Instruction& i, Operands operands) {
  const size_t carries = static_cast<size_t>(i.attrs().integer(Attr::num_carries)),
               inputs = operands.size() - carries;
  const Dims& dimensions = i.attrs().ints(Attr::dimensions);
  const int64_t dim = dimensions.empty() ? 0 : dimensions[0];
  const std::vector<Shape> shapes = i.shape().is_tuple() ? i.shape().tuple : std::vector<Shape>{i.shape()};
  const size_t outputs = shapes.size() - carries;
  std::vector<Literal> fronted, state(operands.begin() + static_cast<int64_t>(inputs), operands.end()),
      results;
  for (size_t k = 0; k < inputs; ++k)
    fronted.push_back(permuted(operands[k], front_order(operands[k].shape().rank(), dim)));
  for (size_t k = 0; k < outputs; ++k)
    results.emplace_back(
        Shape(shapes[k].dtype, selected(shapes[k].dims, front_order(shapes[k].rank(), dim))));
  if (fronted.empty() && results.empty())
    throw user_error("scan has neither inputs nor outputs, so it has no length");
  const int64_t length = fronted.empty() ? results[0].shape().dims[0] : fronted[0].shape().dims[0];
  for (int64_t step = 0; step < length; ++step) {
    const int64_t at = i.attrs().flag(Attr::is_reverse) ? length - 1 - step : step;
    std::vector<Literal> arguments;
    for (const Literal& input : fronted) arguments.push_back(slice_of(input, at));
    arguments.insert(arguments.end(), state.begin(), state.end());
    const Literal result = e.run(*i.callees().at(0), arguments);
    const std::vector<Literal> parts = result.is_tuple() ? result.tuple() : std::vector<Literal>{result};
    for (size_t k = 0; k < outputs; ++k)
      std::memcpy(results[k].bytes() + at * parts[k].size_bytes(), parts[k].bytes(),
                  static_cast<size_t>(parts[k].size_bytes()));
    state.assign(parts.begin() + static_cast<int64_t>(outputs), parts.end());
  }
  for (Literal& r : results) r = permuted(r, back_order(r.shape().rank(), dim));
  results.insert(results.end(), state.begin(), state.end());
  return tuple_or_single(std::move(results), i.shape());
}

}  // namespace

std::span<const HandlerRow> sorting_handlers() {
  static constexpr HandlerRow rows[] = {{Op::sort, sort}, {Op::topk, topk}, {Op::scan, scan}};
  return rows;
}

}  // namespace armillary
