// custom-call: to LAPACK, which we know, or to code from outside.
#include "xla_core/backends/cpu/native/custom_calls.h"
#include "xla_core/backends/cpu/native_parts.h"
#include "xla_core/program/call_out.h"

namespace armillary::cpu {
namespace {

std::vector<Shape> leaf_shapes(const Shape& shape) {
  std::vector<Shape> leaves;
  for (const Shape* leaf : leaves_of(shape)) leaves.push_back(leaf->without_layout());
  return leaves;
}

CallSite site_of(const Instruction& i) {
  CallSite site{i.attrs().text(Attr::custom_call_target),
                i.attrs().raw(Attr::backend_config),
                i.attrs().text(Attr::api_version, ""),
                {},
                leaf_shapes(i.shape())};
  for (const Instruction* operand : i.operands())
    for (Shape& leaf : leaf_shapes(operand->shape())) site.operands.push_back(std::move(leaf));
  return site;
}

bool can_call(const Instruction& i, std::string* why) {
  const std::string& target = i.attrs().text(Attr::custom_call_target);
  std::string reason;
  try {
    if (native::knows_custom_call(target, &reason) || make_call_out(site_of(i))) return true;
  } catch (const Error& e) {
    reason = e.message();
  }
  if (why) *why = reason.empty() ? "no implementation of custom call target \"" + target + "\"" : reason;
  return false;
}

DeviceFunction make_custom_call(const Instruction& i, FunctionTable&) {
  const std::string target = i.attrs().text(Attr::custom_call_target),
                    config = i.attrs().raw(Attr::backend_config);
  if (!native::knows_custom_call(target)) return make_call_out(site_of(i));
  return [arrays = Arrays(i), target, config](std::byte* const* buffers, const DeviceContext&) {
    const std::vector<native::ArrayRef> bound = arrays.bound(buffers);
    const std::span all(bound);
    std::string error;
    if (!native::run_custom_call(target, config, all.first(arrays.inputs()), all.subspan(arrays.inputs()),
                                 &error))
      throw unsupported_error("custom call {}: {}", target, error);
  };
}

constexpr NativeRow kRows[] = {
    {.op = Op::custom_call, .supported = can_call, .make_on_device = make_custom_call}};

}  // namespace

std::span<const NativeRow> custom_call_rows() { return kRows; }

}  // namespace armillary::cpu
