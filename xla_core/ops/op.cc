// Joins the families of rows into the table: one row an op, in the order of op_list.def.
#include "xla_core/ops/op.h"

#include <algorithm>
#include <unordered_map>

#include "xla_core/base/text.h"
#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

constexpr std::string_view kNames[] = {
#define ARM_OP(id, text) text,
#include "xla_core/ops/op_list.def"
#undef ARM_OP
};
constexpr size_t kNumOps = std::size(kNames);
static_assert(kNumOps == 136);

// Exactly one row an op, or the program does not start.
std::vector<OpDef> join() {
  std::vector<OpDef> table(kNumOps);
  std::vector<bool> filled(kNumOps);
  for (auto family : {elementwise_unary_rows,
                      elementwise_binary_rows,
                      elementwise_mixed_rows,
                      conversion_rows,
                      data_movement_rows,
                      dynamic_slicing_rows,
                      gather_rows,
                      scatter_rows,
                      sorting_rows,
                      contraction_rows,
                      convolution_rows,
                      reduction_rows,
                      window_rows,
                      control_rows,
                      async_rows,
                      collective_rows,
                      transfer_rows,
                      linear_algebra_rows,
                      batch_norm_rows,
                      random_rows,
                      dynamic_shape_rows,
                      custom_call_rows}) {
    for (OpDef& row : family()) {
      const size_t i = static_cast<size_t>(row.op);
      if (filled[i]) throw internal_error("{} has two rows", kNames[i]);
      filled[i] = true;
      row.name = kNames[i];
      table[i] = std::move(row);
    }
  }
  for (size_t i = 0; i < kNumOps; ++i)
    if (!filled[i]) throw internal_error("{} has no row", kNames[i]);
  return table;
}

const std::vector<OpDef>& table() {
  static const std::vector<OpDef> rows = join();
  return rows;
}

}  // namespace

const OpDef& def(Op op) { return table()[static_cast<size_t>(op)]; }
std::span<const OpDef> all_ops() { return table(); }

const OpDef* op_from_name(std::string_view name) {
  static const auto index = [] {
    std::unordered_map<std::string_view, const OpDef*> map;
    for (const OpDef& row : all_ops()) map.emplace(row.name, &row);
    return map;
  }();
  auto it = index.find(name);
  return it == index.end() ? nullptr : it->second;
}

std::string nearest_op_name(std::string_view name) {
  return nearest_name(name, {std::begin(kNames), std::end(kNames)});
}

int64_t window_output_size(int64_t input, const WindowDim& w) {
  if (input == Shape::kUnbounded) return Shape::kUnbounded;
  auto dilated = [](int64_t size, int64_t dilation) { return size == 0 ? 0 : (size - 1) * dilation + 1; };
  const int64_t padded = w.pad_low + dilated(input, w.lhs_dilate) + w.pad_high;
  const int64_t window = dilated(w.size, w.rhs_dilate);
  return padded < window ? 0 : (padded - window) / w.stride + 1;
}

}  // namespace armillary
