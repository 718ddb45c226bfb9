// scatter: windows of the updates, one after the other, into places that the index array names.
#include "xla_core/interp/dense.h"
#include "xla_core/interp/evaluation.h"

namespace armillary {
namespace {

// The dimension numbers of one scatter, in the roles the loop needs them in.
struct ScatterPlan {
  Dims operand, indices, updates;
  Dims window_dims, batch_dims;  // of the updates
  Dims window_to_operand;        // operand dimension of each window dimension
  Dims index_to_operand;         // operand dimension of each coordinate
  Dims batching, index_batching;
  int64_t vector_dim;

  ScatterPlan(const Instruction& i, Operands operands) {
    const size_t n = operands.size() / 2;
    operand = operands[0].shape().dims;
    indices = operands[n].shape().dims;
    updates = operands[n + 1].shape().dims;
    window_dims = i.attrs().ints(Attr::update_window_dims);
    batch_dims = other_dims(static_cast<int64_t>(updates.size()), window_dims);
    batching = i.attrs().ints(Attr::input_batching_dims);
    index_batching = i.attrs().ints(Attr::scatter_indices_batching_dims);
    window_to_operand = other_dims(static_cast<int64_t>(operand.size()),
                                   concatenated({i.attrs().ints(Attr::inserted_window_dims), batching}));
    index_to_operand = i.attrs().ints(Attr::scatter_dims_to_operand_dims);
    vector_dim = i.attrs().integer(Attr::index_vector_dim);
  }

  // Where the window of this batch index begins. False when the window would not lie inside the operand as a
  // whole.
  bool window_start(const Literal& index_array, const Dims& batch, Dims& start) const {
    start.assign(operand.size(), 0);
    Dims at;  // the batch index with a place for the coordinate
    for (size_t d = 0, b = 0; d < indices.size(); ++d)
      at.push_back(static_cast<int64_t>(d) == vector_dim ? 0 : batch[b++]);
    for (size_t k = 0; k < index_to_operand.size(); ++k) {
      if (vector_dim < static_cast<int64_t>(indices.size()))
        at[static_cast<size_t>(vector_dim)] = static_cast<int64_t>(k);
      int64_t value = index_array.get_int(linear_index(indices, at));
      if (index_array.dtype() == DType::kU64 && value < 0) return false;  // far beyond any array
      start[static_cast<size_t>(index_to_operand[k])] = value;
    }
    for (size_t k = 0; k < batching.size(); ++k)
      start[static_cast<size_t>(batching[k])] = at[static_cast<size_t>(index_batching[k])];
    Dims size(operand.size(), 1);
    for (size_t w = 0; w < window_dims.size(); ++w)
      size[static_cast<size_t>(window_to_operand[w])] = updates[static_cast<size_t>(window_dims[w])];
    for (size_t d = 0; d < operand.size(); ++d)
      if (start[d] < 0 || start[d] > operand[d] - size[d]) return false;
    return true;
  }
};

Literal scatter(Evaluation& e, const Instruction& i, Operands operands) {
  const size_t n = operands.size() / 2;
  const ScatterPlan plan(i, operands);
  ScalarFunction& combine = e.function(*i.callees().at(0));
  std::vector<Literal> results;
  for (size_t k = 0; k < n; ++k) results.push_back(operands[k].clone());
  const Dims window_sizes = selected(plan.updates, plan.window_dims),
             batch_sizes = selected(plan.updates, plan.batch_dims);
  std::vector<const std::byte*> arguments(2 * n);
  std::vector<std::byte*> places(n);
  Dims start, update(plan.updates.size()), target;
  for_each_index(batch_sizes, [&](std::span<const int64_t> batch) {
    if (!plan.window_start(operands[n], {batch.begin(), batch.end()}, start)) return;
    for (size_t b = 0; b < batch.size(); ++b) update[static_cast<size_t>(plan.batch_dims[b])] = batch[b];
    for_each_index(window_sizes, [&](std::span<const int64_t> window) {
      target = start;
      for (size_t w = 0; w < window.size(); ++w) {
        update[static_cast<size_t>(plan.window_dims[w])] = window[w];
        target[static_cast<size_t>(plan.window_to_operand[w])] += window[w];
      }
      const int64_t to = linear_index(plan.operand, target), from = linear_index(plan.updates, update);
      for (size_t k = 0; k < n; ++k) {
        const int64_t bytes = byte_size(results[k].dtype());
        places[k] = results[k].bytes() + to * bytes;
        arguments[k] = places[k];
        arguments[n + k] = operands[n + 1 + k].bytes() + from * bytes;
      }
      combine.apply(arguments, places);
    });
  });
  return tuple_or_single(std::move(results), i.shape());
}

}  // namespace

std::span<const HandlerRow> scatter_handlers() {
  static constexpr HandlerRow rows[] = {{Op::scatter, scatter}};
  return rows;
}

}  // namespace armillary
