// custom-call, and the ids of the one device a program runs on.
#include <cstring>

#include "xla_core/backends/cpu/native_parts.h"

namespace armillary::cpu {
namespace {

NativeFunction make_zero(const Instruction& i, FunctionTable&) {
  const auto bytes = static_cast<size_t>(i.shape().byte_size());
  return [bytes](std::byte* const* buffers) { std::memset(buffers[0], 0, bytes); };
}

constexpr NativeRow kRows[] = {{Op::partition_id, make_zero}, {Op::replica_id, make_zero}};

}  // namespace

std::span<const NativeRow> custom_call_rows() { return kRows; }

}  // namespace armillary::cpu
