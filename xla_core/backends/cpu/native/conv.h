// Convolution with every attribute: any spatial rank, strides, padding of either sign, dilation of both
// operands, reversal, groups, any dimension order, any dtype.
#pragma once

#include <vector>

#include "xla_core/backends/cpu/native/array_ref.h"
#include "xla_core/backends/cpu/native/gemm.h"
#include "xla_core/ops/attr.h"

namespace armillary::native {

struct ConvSpec {
  Window window;
  ConvDims dims;
  int64_t feature_groups = 1, batch_groups = 1;
};

// Made once, run many times. Each convolution becomes a few products over lists of offsets (gemm.h): rows are
// output positions, the depth is (kernel tap, input feature). Dilation of the input splits the output into
// phases, each of which sees only the taps that meet an element, so no zero is ever multiplied. Padding is a
// copy of the input with a margin, made only when windows reach outside.
class ConvPlan {
 public:
  ConvPlan(const ArrayRef& input, const ArrayRef& kernel, const ConvSpec& spec,
           const ArrayRef& result);  // `data` is not looked at

  void run(const std::byte* input, const std::byte* kernel, std::byte* result,
           const Epilogue& epilogue = nullptr) const;

 private:
  void run_depthwise(const float* input, const float* kernel, float* result, const Epilogue& epilogue) const;

  ArrayRef input_, kernel_;           // without data
  DType input_reads_, kernel_reads_;  // what the operands are converted to first
  std::vector<int64_t> margin_;       // zeros before the input, per dimension
  Dims padded_dims_;
  std::vector<GemmPlan> phases_;
  bool swapped_ = false;    // the plans compute the transposed product
  bool depthwise_ = false;  // one phase, one feature a group, features side by side everywhere
};

void convolution(const ArrayRef& input, const ArrayRef& kernel, const ConvSpec& spec, const ArrayRef& result,
                 const Epilogue& epilogue = nullptr);

}  // namespace armillary::native
