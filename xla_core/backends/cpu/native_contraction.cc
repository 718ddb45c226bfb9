// dot and convolution.
#include "xla_core/backends/cpu/native/conv.h"
#include "xla_core/backends/cpu/native/dot.h"
#include "xla_core/backends/cpu/native_parts.h"

namespace armillary::cpu {
namespace {

NativeFunction make_dot(const Instruction& i, FunctionTable&) {
  const Attrs& a = i.attrs();
  native::DotDims dims{a.ints(Attr::lhs_batch_dims), a.ints(Attr::rhs_batch_dims),
                       a.ints(Attr::lhs_contracting_dims), a.ints(Attr::rhs_contracting_dims)};
  const Arrays arrays(i);
  auto plan = std::make_shared<native::DotPlan>(arrays.input(0), arrays.input(1), dims, arrays.result(0));
  return [plan](std::byte* const* buffers) { plan->run(buffers[0], buffers[1], buffers[2]); };
}

NativeFunction make_convolution(const Instruction& i, FunctionTable&) {
  const Attrs& a = i.attrs();
  native::ConvSpec spec{a.window(), a.conv_dims(), a.integer(Attr::feature_group_count, 1),
                        a.integer(Attr::batch_group_count, 1)};
  const Arrays arrays(i);
  auto plan = std::make_shared<native::ConvPlan>(arrays.input(0), arrays.input(1), spec, arrays.result(0));
  return [plan](std::byte* const* buffers) { plan->run(buffers[0], buffers[1], buffers[2]); };
}

constexpr NativeRow kRows[] = {{Op::dot, make_dot}, {Op::convolution, make_convolution}};

}  // namespace

std::span<const NativeRow> contraction_rows() { return kRows; }

}  // namespace armillary::cpu
