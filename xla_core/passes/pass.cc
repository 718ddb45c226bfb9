#include "xla_core/passes/pass.h"

#include <algorithm>

#include "xla_core/base/text.h"

namespace armillary {
namespace {

template <class Rows>
std::string nearest(const Rows& rows, std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& row : rows) names.push_back(row.name);
  return nearest_name(name, names);
}

}  // namespace

std::span<const PassRow> generic_passes();  // passes/registry.cc

PassOptions::PassOptions(const Flags& flags)
    : constant_folding_max_bytes(flags.constant_folding_max_bytes),
      constant_folding_max_work(flags.constant_folding_max_work),
      fixpoint_rounds(flags.fixpoint_rounds),
      inline_max_instructions(flags.inline_max_instructions),
      fusion_max_body(flags.fusion_max_body),
      fusion_max_operands(flags.fusion_max_operands),
      fusion_max_recomputed(flags.fusion_max_recomputed),
      multi_output_fusion(flags.multi_output_fusion) {}

void PassContext::note_last(const Instruction* at) const {
  fuel.last_rewrite = fmt::format("{}: {}", running, at ? at->place() : "the module");
}

static std::vector<PassRow>& registry() {
  static std::vector<PassRow> rows(generic_passes().begin(), generic_passes().end());
  return rows;
}

std::span<const PassRow> all_passes() { return registry(); }

void register_passes(std::span<const PassRow> rows) {
  for (const PassRow& row : rows) {
    auto same_name = [&](const PassRow& r) { return r.name == row.name; };
    if (std::none_of(registry().begin(), registry().end(), same_name)) registry().push_back(row);
  }
}

const PassRow& pass_from_name(std::string_view name) {
  for (const PassRow& row : registry())
    if (row.name == name) return row;
  const std::string near = nearest(registry(), name);
  throw user_error("no pass is called {}{}", name,
                   near.empty() ? "" : fmt::format("; the nearest one is {}", near));
}

}  // namespace armillary
