// The one index op with a handler of its own: inside a loop its recipe would look at every element to change
// a few.
#include <algorithm>

#include "xla_core/interp/dense.h"
#include "xla_core/interp/evaluation.h"

namespace armillary {
namespace {

// Starts are clamped so that the window lies inside.
Literal dynamic_update_slice(Evaluation&, const Instruction& i, Operands operands) {
  const Literal &update = operands[1], &starts = operands[2];
  const Dims &dims = operands[0].shape().dims, &window = update.shape().dims;
  Literal result = operands[0].clone();
  Dims start;
  for (size_t d = 0; d < dims.size(); ++d) {
    // Newer text has one scalar a dimension, older a vector.
    const Literal& from = starts.shape().rank() == 1 ? starts : operands[2 + d];
    int64_t value = from.get_int(starts.shape().rank() == 1 ? static_cast<int64_t>(d) : 0);
    if (from.dtype() == DType::kU64 && value < 0) value = dims[d];
    start.push_back(std::clamp<int64_t>(value, 0, dims[d] - window[d]));
  }
  if (update.size() == 0) return with_shape(std::move(result), i.shape());
  // Rows of the last dimension are contiguous on both sides.
  const int64_t row = window.empty() ? 1 : window.back(), bytes = byte_size(i.dtype());
  Dims rows = window;
  if (!rows.empty()) rows.back() = 1;
  int64_t from = 0;
  Dims at;
  for_each_index(rows, [&](std::span<const int64_t> index) {
    at = start;
    for (size_t d = 0; d < at.size(); ++d) at[d] += index[d];
    std::memcpy(result.bytes() + linear_index(dims, at) * bytes, update.bytes() + from * bytes,
                static_cast<size_t>(row * bytes));
    from += row;
  });
  return with_shape(std::move(result), i.shape());
}

}  // namespace

std::span<const HandlerRow> data_movement_handlers() {
  static constexpr HandlerRow rows[] = {{Op::dynamic_update_slice, dynamic_update_slice}};
  return rows;
}

}  // namespace armillary
