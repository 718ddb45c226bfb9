#include "xla_core/passes/pass.h"

#include <algorithm>

#include "xla_core/base/text.h"

namespace armillary {
namespace {

const PassOption kOptions[] = {
    {"constant_folding_max_bytes", "Largest constant, in bytes, that constant folding may create.",
     &PassOptions::constant_folding_max_bytes},
    {"constant_folding_max_work", "Most scalar operations constant folding may spend on one instruction.",
     &PassOptions::constant_folding_max_work},
    {"fixpoint_rounds", "Most rounds of a fixpoint(...) in a pipeline.", &PassOptions::fixpoint_rounds},
    {"inline_max_instructions", "Calls stay calls once a module has this many instructions.",
     &PassOptions::inline_max_instructions},
    {"unroll_max_trips", "While loops with at most this many trips are unrolled.",
     &PassOptions::unroll_max_trips},
    {"fusion_max_body", "Most instructions in the body of a fusion.", &PassOptions::fusion_max_body},
    {"fusion_max_operands", "Most operands and results of a fusion, together.",
     &PassOptions::fusion_max_operands},
    {"fusion_max_recomputed", "Most cheap instructions a fusion may evaluate more than once per element.",
     &PassOptions::fusion_max_recomputed},
    {"multi_output_fusion", "Fuse kernels over the same index space that share operands.", nullptr,
     &PassOptions::multi_output_fusion},
};

template <class Rows>
std::string nearest(const Rows& rows, std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& row : rows) names.push_back(row.name);
  return nearest_name(name, names);
}

}  // namespace

std::span<const PassRow> generic_passes();  // passes/registry.cc

std::span<const PassOption> pass_options() { return kOptions; }

void set_pass_option(PassOptions& options, std::string_view name, int64_t value) {
  for (const PassOption& row : kOptions) {
    if (row.name != name) continue;
    if (row.flag)
      options.*row.flag = value != 0;
    else
      options.*row.integer = value;
    return;
  }
  throw user_error("no pass option is called {}; the nearest one is {}", name, nearest(kOptions, name));
}

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
  throw user_error("no pass is called {}; the nearest one is {}", name, nearest(registry(), name));
}

}  // namespace armillary
