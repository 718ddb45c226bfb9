#include "xla_core/hlo/verify.h"

#include "xla_core/hlo/verify_laws.h"

namespace armillary {
namespace {

constexpr Law kLaws[] = {
    {1, Stage::kParsed, "A module has an entry computation.", check_entry},
    {2, Stage::kParsed, "The calls of a module have no cycle, and callees belong to the module.",
     check_call_graph},
    {3, Stage::kParsed, "Instruction names are unique in the module, computation names among computations.",
     check_names},
    {4, Stage::kParsed, "A computation has a root of its own, and its parameters are numbered 0, 1, 2, ...",
     nullptr, check_root_and_parameters},
    {5, Stage::kParsed,
     "Operands and control predecessors stand before their users, in the same computation.", nullptr,
     check_order},
    {6, Stage::kParsed, "Use lists name exactly the instructions that use a value.", nullptr,
     check_use_lists},
    {7, Stage::kParsed, "An instruction has as many operands as its op's row says.", nullptr, nullptr,
     check_arity},
    {8, Stage::kParsed,
     "An instruction carries the attributes its row requires and none that the row does not know.", nullptr,
     nullptr, check_attributes},
    {9, Stage::kParsed, "A constant's value has the constant's shape.", nullptr, nullptr, check_literal},
    {10, Stage::kParsed,
     "The stated shape is the one that follows from operands and attributes, layouts and dynamism aside.",
     nullptr, nullptr, check_shape},
    {11, Stage::kParsed, "The numbered checks of the op's row hold.", nullptr, nullptr, check_row},
    {12, Stage::kParsed, "A done ends a start or an update.", nullptr, nullptr, check_async_done},
    {13, Stage::kParsed, "An asynchronous computation is called by one start.", check_async_callers},
    {14, Stage::kParsed, "Aliases and donors name leaves that exist, each result at most once.",
     check_aliases},
    {15, Stage::kParsed, "The entry's stated layout has the shapes of its parameters and root.",
     check_entry_layout},
    {16, Stage::kExpanded, "Ops whose meaning is to be expanded are gone.", nullptr, nullptr, check_expanded},
    {17, Stage::kPartitioned, "Shardings remain on the entry's parameters and root only.", nullptr, nullptr,
     check_partitioned},
    {18, Stage::kLaidOut, "Every array has a layout.", nullptr, nullptr, check_has_layout},
    {19, Stage::kLaidOut, "An elementwise instruction keeps its operands' layout; only copy changes one.",
     nullptr, nullptr, check_keeps_layout},
    {20, Stage::kFused, "A fusion's body has at most one contraction.", nullptr, nullptr,
     check_one_contraction},
    {21, Stage::kScheduled, "The module says that the order of its instructions is the schedule.",
     check_scheduled},
    {22, Stage::kScheduled, "Every start has exactly one done or update.", nullptr, nullptr,
     check_start_has_done},
};

void check(const Law& law, const Module& module, const std::vector<Computation*>& computations) {
  if (law.of_module) return law.of_module(module);
  for (const Computation* c : computations) {
    if (law.of_computation) law.of_computation(*c);
    if (law.of_instruction)
      for (const Instruction* i : c->instructions()) law.of_instruction(*i);
  }
}

}  // namespace

std::string_view to_string(Stage stage) {
  switch (stage) {
    case Stage::kParsed:
      return "parsed";
    case Stage::kExpanded:
      return "expanded";
    case Stage::kPartitioned:
      return "partitioned";
    case Stage::kLaidOut:
      return "laid out";
    case Stage::kFused:
      return "fused";
    case Stage::kScheduled:
      return "scheduled";
  }
  return "unknown";
}

std::span<const Law> laws() { return kLaws; }

void verify(const Module& module, Stage stage) {
  const std::vector<Computation*> computations = module.computations();
  try {
    for (const Law& law : kLaws)
      if (law.from <= stage) check(law, module, computations);
  } catch (const Error& e) {
    if (stage == Stage::kParsed || e.kind() == ErrorKind::kInternal) throw;
    throw Error(ErrorKind::kInternal, e.where(), e.message());  // the input was fine once, so a pass broke it
  }
}

}  // namespace armillary
