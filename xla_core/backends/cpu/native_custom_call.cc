// custom-call.
#include "xla_core/backends/cpu/native/custom_calls.h"
#include "xla_core/backends/cpu/native_parts.h"

namespace armillary::cpu {
namespace {

bool can_call(const Instruction& i, std::string* why) {
  const std::string& target = i.attrs().text(Attr::custom_call_target);
  std::string reason;
  if (native::knows_custom_call(target, &reason)) return true;
  if (why) *why = reason.empty() ? "no implementation of custom call target \"" + target + "\"" : reason;
  return false;
}

NativeFunction make_custom_call(const Instruction& i, FunctionTable&) {
  const std::string target = i.attrs().text(Attr::custom_call_target),
                    config = i.attrs().raw(Attr::backend_config);
  return [arrays = Arrays(i), target, config](std::byte* const* buffers) {
    const std::vector<native::ArrayRef> bound = arrays.bound(buffers);
    const std::span all(bound);
    std::string error;
    if (!native::run_custom_call(target, config, all.first(arrays.inputs()), all.subspan(arrays.inputs()),
                                 &error))
      throw unsupported_error("custom call {}: {}", target, error);
  };
}

constexpr NativeRow kRows[] = {{Op::custom_call, make_custom_call, can_call}};

}  // namespace

std::span<const NativeRow> custom_call_rows() { return kRows; }

}  // namespace armillary::cpu
