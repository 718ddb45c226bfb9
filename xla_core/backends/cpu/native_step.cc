#include "xla_core/backends/cpu/native_step.h"

#include <map>

#include "xla_core/backends/cpu/native_parts.h"
#include "xla_core/kernels/lower.h"

namespace armillary::cpu {
namespace {

const NativeRow* row_of(Op op) {
  static const std::map<Op, const NativeRow*> rows = [] {
    std::map<Op, const NativeRow*> all;
    for (std::span<const NativeRow> family : {contraction_rows(), ordering_rows(), scattering_rows(),
                                              numeric_rows(), custom_call_rows(), collective_rows()})
      for (const NativeRow& row : family) all[row.op] = &row;
    return all;
  }();
  auto it = rows.find(op);
  return it == rows.end() ? nullptr : it->second;
}

}  // namespace

Arrays::Arrays(const Instruction& i) {
  auto append = [&](const Shape& shape) {
    for (const Shape* leaf : leaves_of(shape)) arrays_.push_back({leaf->dtype, leaf->dims, nullptr});
  };
  for (const Instruction* operand : i.operands()) append(operand->shape());
  inputs_ = arrays_.size();
  append(i.shape());
}

std::vector<native::ArrayRef> Arrays::bound(std::byte* const* buffers) const {
  std::vector<native::ArrayRef> out = arrays_;
  for (size_t k = 0; k < out.size(); ++k) out[k].data = buffers[k];
  return out;
}

int add_scalar_function(const Computation& c, FunctionTable& functions) {
  return functions.add(kernels::lower_scalar_computation(c));
}

bool has_native_step(const Instruction& i, std::string* why) {
  const NativeRow* row = row_of(i.op());
  return row != nullptr && (row->supported == nullptr || row->supported(i, why));
}

void make_native_step(const Instruction& i, FunctionTable& functions, Step& step) {
  const NativeRow* row = row_of(i.op());
  if (row == nullptr) throw unsupported_error(i, "unsupported: {}", to_string(i.op()));
  step.kind = row->make ? Step::kNative : Step::kDevice;
  if (row->make)
    step.native = row->make(i, functions);
  else
    step.on_device = row->make_on_device(i, functions);
}

bool native_may_share(const Instruction& i, int64_t operand, int64_t leaf) {
  const NativeRow* row = row_of(i.op());
  return row != nullptr && row->may_share != nullptr && row->may_share(i, operand, leaf);
}

}  // namespace armillary::cpu
