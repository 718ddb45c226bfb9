// Rows that combine updates into places of an operand: scatter and select-and-scatter.
#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

int scatter_inputs(const OpContext& c) {
  if (c.operands.size() < 3 || c.operands.size() % 2 == 0)
    throw user_error("scatter has {} operands, but needs n arrays, one index array and n updates",
                     c.operands.size());
  return static_cast<int>(c.operands.size() / 2);
}

// Checks 1 to 5: dimension lists.
void check_scatter_dims(const OpContext& c, int n) {
  const Shape &x = c.operand(0), &indices = c.operand(n);
  const Dims &window = c.attrs.ints(Attr::update_window_dims),
             &inserted = c.attrs.ints(Attr::inserted_window_dims);
  const Dims& map = c.attrs.ints(Attr::scatter_dims_to_operand_dims);
  const Dims &batching = c.attrs.ints(Attr::input_batching_dims),
             &index_batching = c.attrs.ints(Attr::scatter_indices_batching_dims);
  need_dims_sorted(Op::scatter, "update_window_dims", window, c.operand(n + 1).rank());
  need_dims_sorted(Op::scatter, "inserted_window_dims", inserted, x.rank());
  need_dims_sorted(Op::scatter, "input_batching_dims", batching, x.rank());
  need_dims(Op::scatter, "scatter_indices_batching_dims", index_batching, indices.rank());
  need_dims(Op::scatter, "scatter_dims_to_operand_dims", map, x.rank());
  for (int64_t d : batching)
    if (contains_dim(inserted, d) || contains_dim(map, d))
      throw user_error(
          "input_batching_dims={} of scatter names dimension {}, which inserted_window_dims or "
          "scatter_dims_to_operand_dims name too",
          list(batching), d);
  const int64_t vector_dim = c.attrs.integer(Attr::index_vector_dim);
  if (vector_dim < 0 || vector_dim > indices.rank())
    throw user_error("index_vector_dim={} of scatter must lie in [0, {}]", vector_dim, indices.rank());
  const int64_t coordinates = vector_dim < indices.rank() ? indices.dims[vector_dim] : 1;
  if (!same_size(coordinates, static_cast<int64_t>(map.size())))
    throw user_error(
        "scatter_dims_to_operand_dims={} of scatter must name {} dimensions, as operand {} is {} with "
        "index_vector_dim={}",
        list(map), coordinates, n, to_string(indices), vector_dim);
  if (batching.size() != index_batching.size())
    throw user_error(
        "input_batching_dims={} and scatter_indices_batching_dims={} of scatter must be equally long",
        list(batching), list(index_batching));
  for (size_t i = 0; i < batching.size(); ++i)
    if (index_batching[i] == vector_dim || !same_size(x.dims[batching[i]], indices.dims[index_batching[i]]))
      throw user_error(
          "dimension {} of operand 0 and dimension {} of operand {} of scatter cannot be batch dimensions "
          "together",
          batching[i], index_batching[i], n);
}

// Check 6: an update is a batch of windows that fit into the operand.
void check_update(const OpContext& c, int n, int i) {
  const Shape &x = c.operand(0), &indices = c.operand(n), &update = c.operand(i);
  const Dims& window = c.attrs.ints(Attr::update_window_dims);
  Dims bounds, batch;
  for (int64_t d = 0; d < x.rank(); ++d)
    if (!contains_dim(c.attrs.ints(Attr::inserted_window_dims), d) &&
        !contains_dim(c.attrs.ints(Attr::input_batching_dims), d))
      bounds.push_back(x.dims[d]);
  for (int64_t d = 0; d < indices.rank(); ++d)
    if (d != c.attrs.integer(Attr::index_vector_dim)) batch.push_back(indices.dims[d]);
  if (window.size() != bounds.size() || update.rank() != static_cast<int64_t>(bounds.size() + batch.size()))
    throw user_error(
        "operand {} is {}, but scatter needs {} window dimensions and {} batch dimensions "
        "(update_window_dims={})",
        i, to_string(update), bounds.size(), batch.size(), list(window));
  size_t w = 0, s = 0;
  for (int64_t d = 0; d < update.rank(); ++d) {
    if (contains_dim(window, d)) {
      if (bounds[w] != Shape::kUnbounded && update.dims[d] > bounds[w])
        throw user_error("operand {} is {}, but scatter needs at most {} in dimension {} to fit into {}", i,
                         to_string(update), bounds[w], d, to_string(x));
      ++w;
    } else if (!same_size(update.dims[d], batch[s++])) {
      throw user_error("operand {} is {}, but scatter needs {} in dimension {} as operand {} is {}", i,
                       to_string(update), batch[s - 1], d, n, to_string(indices));
    }
  }
}

Shape scatter_shape(const OpContext& c) {
  check_signature(Op::scatter, c);
  const int n = scatter_inputs(c);
  std::vector<Shape> results;
  for (int i = 0; i < n; ++i) {
    need_array(Op::scatter, c, i);
    need_array(Op::scatter, c, n + 1 + i);
    need_same_dims(Op::scatter, c, i, 0);
    need_same_dims(Op::scatter, c, n + 1 + i, n + 1);
    need_same_dtype(Op::scatter, c, n + 1 + i, i);
    results.push_back(c.operand(i).without_layout());
  }
  need_array(Op::scatter, c, n, kIntegerType);
  check_scatter_dims(c, n);
  check_update(c, n, n + 1);
  return n == 1 ? array_result(c, results[0].dtype, results[0].dims) : Shape::make_tuple(std::move(results));
}

// 7: to_apply combines n old and n new scalars into n.
void scatter_check(const OpContext& c) {
  const int n = scatter_inputs(c);
  need_callee_count(Op::scatter, c, 1);
  std::vector<Shape> scalars;
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < n; ++i) scalars.push_back(Shape::scalar(c.operand(i).dtype));
  const Shape result = n == 1 ? scalars[0] : Shape::make_tuple({scalars.begin(), scalars.begin() + n});
  need_callee(Op::scatter, c, 0, scalars, &result);
}

int scatter_parameter(const OpContext& c, int operand) {
  const int n = static_cast<int>(c.operands.size() / 2);
  return operand < n ? operand : operand == n ? -1 : operand - 1;
}

Shape select_and_scatter_shape(const OpContext& c) {
  check_signature(Op::select_and_scatter, c);
  need_array(Op::select_and_scatter, c, 0);
  need_array(Op::select_and_scatter, c, 1);
  need_scalar(Op::select_and_scatter, c, 2, kAnyType);
  need_same_dtype(Op::select_and_scatter, c, 1, 0);
  need_same_dtype(Op::select_and_scatter, c, 2, 0);
  const Shape& x = c.operand(0);
  need_shape(Op::select_and_scatter, c, 1,
             Shape(x.dtype, windowed_dims(Op::select_and_scatter, x.dims, c.attrs.window())));
  return array_result(c, x.dtype, x.dims);
}

// 1: select compares two scalars; 2: scatter combines two.
void select_and_scatter_check(const OpContext& c) {
  need_callee_count(Op::select_and_scatter, c, 2);
  const Shape scalar = Shape::scalar(c.operand(0).dtype), pred = Shape::scalar(DType::kPred);
  need_callee(Op::select_and_scatter, c, 0, {scalar, scalar}, &pred);
  need_callee(Op::select_and_scatter, c, 1, {scalar, scalar}, &scalar);
}

// Of each array what the updates cover: the rest stays as it is.
double scatter_bytes_read(const OpContext& c, int operand, const Shape&) {
  const double all = static_cast<double>(c.operand(operand).byte_size());
  const double updates = static_cast<double>(c.operands.back()->byte_size());
  return operand == 0 ? std::min(all, updates) : all;
}

double scatter_bytes_written(const OpContext& c, const Shape&) {
  return static_cast<double>(c.operands.back()->byte_size());
}

double scatter_runs(const OpContext& c, const Shape&) {
  return static_cast<double>(c.operands.back()->num_elements());
}

double select_and_scatter_runs(const OpContext& c, const Shape&) {
  double taps = 1;
  for (const WindowDim& w : c.attrs.window().dims) taps *= static_cast<double>(w.size);
  return taps * static_cast<double>(c.operand(1).num_elements());
}

}  // namespace

std::vector<OpDef> scatter_rows() {
  return {
      {.op = Op::scatter,
       .stablehlo = "scatter",
       .arity = kVariadic,
       .traits = kCallsEmbedded | kExpensive | kOverwrites,
       .attrs = {Attr::update_window_dims, Attr::inserted_window_dims, Attr::scatter_dims_to_operand_dims,
                 Attr::index_vector_dim, Attr::to_apply},
       .optional = {Attr::input_batching_dims, Attr::scatter_indices_batching_dims, Attr::indices_are_sorted,
                    Attr::unique_indices, Attr::mode},
       .doc = "Combines windows of the updates into the operands at the positions in the index array; "
              "updates out of range are dropped.",
       .infer = scatter_shape,
       .check = scatter_check,
       .parameter_of = scatter_parameter,
       .body_runs = scatter_runs,
       .bytes_read = scatter_bytes_read,
       .bytes_written = scatter_bytes_written},
      {.op = Op::select_and_scatter,
       .stablehlo = "select_and_scatter",
       .arity = 3,
       .traits = kCallsEmbedded | kExpensive,
       .attrs = {Attr::select, Attr::scatter},
       .optional = {Attr::window},
       .doc = "In each window of operand 0 the selected element receives the element of operand 1; the rest "
              "is operand 2.",
       .infer = select_and_scatter_shape,
       .check = select_and_scatter_check,
       .body_runs = select_and_scatter_runs},
  };
}

}  // namespace armillary
