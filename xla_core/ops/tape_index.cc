// Loads and the arithmetic of indices. Dimensions of size one cost nothing, because constants fold.
#include "xla_core/base/error.h"
#include "xla_core/ops/tape.h"
#include "xla_core/ops/tape_parts.h"
#include "xla_core/shape/shape.h"

namespace armillary {

Val TapeBuilder::load(int operand, DType dtype, std::span<const int64_t> dims, std::span<const Val> index) {
  const int32_t at = linear_index(dims, index).re;
  const DType part = real_part_of(dtype);
  Val v{push({Prim::kLoad, part, 0, at, -1, -1, operand}), -1, dtype};
  if (is_complex(dtype)) v.im = push({Prim::kLoad, part, 1, at, -1, -1, operand});
  return v;
}

Val TapeBuilder::clamp_index(Val x, int64_t low, int64_t high) {
  return max(min(x, index_const(high)), index_const(low));
}
Val TapeBuilder::floor_div(Val x, int64_t divisor) {
  return {binary(Prim::kDiv, DType::kS64, x.re, index_const(divisor).re), -1, DType::kS64};
}
Val TapeBuilder::mod(Val x, int64_t divisor) {
  return {binary(Prim::kRem, DType::kS64, x.re, index_const(divisor).re), -1, DType::kS64};
}

// A sum of index times stride, outermost first: what does not change with the inner loop then stands in
// front.
Val TapeBuilder::linear_index(std::span<const int64_t> dims, std::span<const Val> index) {
  if (dims.size() != index.size())
    throw internal_error("{} indices into {} dimensions", index.size(), dims.size());
  const Dims strides = strides_of(dims);
  Val linear;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;  // its index is 0
    const Val term = mul(index[d], index_const(strides[d]));
    linear = linear.valid() ? add(linear, term) : term;
  }
  return linear.valid() ? linear : index_const(0);
}

std::vector<Val> TapeBuilder::delinearize(Val linear, std::span<const int64_t> dims) {
  std::vector<Val> index(dims.size());
  size_t outermost = 0;  // what is left needs no remainder
  while (outermost < dims.size() && dims[outermost] == 1) ++outermost;
  for (size_t d = dims.size(); d-- > 0;) {
    if (dims[d] == 1)
      index[d] = index_const(0);
    else if (d == outermost)
      index[d] = linear;
    else {
      const int64_t size = dims[d] > 0 ? dims[d] : 1;  // no element exists when a size is 0
      index[d] = mod(linear, size);
      linear = floor_div(linear, size);
    }
  }
  return index;
}

}  // namespace armillary
