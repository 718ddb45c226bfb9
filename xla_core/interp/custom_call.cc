#include "xla_core/interp/custom_call.h"

#include <charconv>

#include "xla_core/interp/dense.h"

namespace armillary {
namespace {

Literal same(const Instruction& i, Operands operands) {
  if (operands.empty()) return Literal(i.shape());
  if (!i.shape().is_array()) return operands[0];
  if (operands[0].shape().dims != i.dims() || operands[0].dtype() != i.dtype())
    throw unsupported_error("unsupported: custom-call to {} that makes {} of {} without a partitioner",
                            i.attrs().text(Attr::custom_call_target), to_string(i.shape()),
                            to_string(operands[0].shape()));
  return with_shape(operands[0], i.shape());
}

// Only the op itself can ask for the least ones.
Literal top_k_call(const Instruction& i, Operands operands) { return top_k(operands[0], true, i.shape()); }

// The first are markers of the partitioner and of sharding: on one device they change nothing.
constexpr CustomCallRow kTargets[] = {
    {"Sharding", same},
    {"SPMDFullToShardShape", same},
    {"SPMDShardToFullShape", same},
    {"xla.sdy.FuncResultSharding", same},
    {"xla.sdy.GlobalToLocalShape", same},
    {"xla.sdy.LocalToGlobalShape", same},
    {"annotate_device_placement", same},
    {"LayoutConstraint", same},
    {"MoveToHost", same},
    {"MoveToDevice", same},
    {"TopK", top_k_call},
    {"mhlo.topk", top_k_call},
};

// "potrf" of "lapack_spotrf_ffi"; empty when the target is none of LAPACK's.
std::string_view lapack_routine(std::string_view target) {
  constexpr std::string_view prefix = "lapack_", suffix = "_ffi";
  if (!target.starts_with(prefix) || !target.ends_with(suffix) ||
      target.size() < prefix.size() + suffix.size() + 2)
    return {};
  return target.substr(prefix.size() + 1, target.size() - prefix.size() - suffix.size() - 1);
}

CustomCall find(std::span<const CustomCallRow> rows, std::string_view target) {
  for (const CustomCallRow& row : rows)
    if (row.target == target) return row.call;
  return nullptr;
}

Literal custom_call(Evaluation&, const Instruction& i, Operands operands) {
  const std::string& target = i.attrs().text(Attr::custom_call_target);
  const std::string_view routine = lapack_routine(target);
  CustomCall call = find(kTargets, target);
  for (auto rows : {lapack_factorizations(), lapack_decompositions()})
    if (!call) call = find(rows, routine.empty() ? std::string_view(target) : routine);
  if (!call) throw unsupported_error("unsupported: custom-call to {}", target);
  return call(i, operands);
}

}  // namespace

int64_t config_number(const Instruction& i, std::string_view name, int64_t fallback) {
  const std::string_view text = i.attrs().raw(Attr::backend_config);
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const bool starts = at == 0 || std::string_view("{, \"").find(text[at - 1]) != std::string_view::npos;
    const size_t value = text.find_first_not_of(" \":=", at + name.size());
    if (!starts || value == std::string_view::npos || value == at + name.size()) continue;
    if (text.substr(value).starts_with("true")) return 1;
    if (text.substr(value).starts_with("false")) return 0;
    int64_t number = 0;
    if (std::from_chars(text.data() + value, text.data() + text.size(), number).ec == std::errc())
      return number;
  }
  return fallback;
}

std::span<const HandlerRow> custom_call_handlers() {
  static constexpr HandlerRow rows[] = {{Op::custom_call, custom_call}};
  return rows;
}

}  // namespace armillary
