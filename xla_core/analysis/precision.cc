#include "xla_core/analysis/precision.h"

#include <algorithm>
#include <cctype>

namespace armillary {
namespace {

int passes_of(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (name == "highest") return 6;
  return name == "high" ? 3 : 1;
}

}  // namespace

int matrix_passes(const Instruction& contraction) {
  const std::string algorithm = contraction.attrs().text(Attr::algorithm, "");
  if (algorithm.ends_with("_x3")) return 3;
  if (algorithm.ends_with("_x6") || algorithm.ends_with("_x9") || algorithm == "dot_f32_f32_f32") return 6;
  if (!algorithm.empty() && algorithm != "dot_any_f8_any_f8_f32") return 1;
  int passes = 1;
  const AttrValue* precision = contraction.attrs().find(Attr::operand_precision);
  const auto* names = precision ? std::get_if<std::vector<std::string>>(precision) : nullptr;
  if (names == nullptr) return passes;
  for (const std::string& name : *names) passes = std::max(passes, passes_of(name));
  return passes;
}

}  // namespace armillary
