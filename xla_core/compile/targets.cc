// The registry of targets and of the passes that live outside passes/.
#include "xla_core/backends/cpu/cpu_target.h"
#include "xla_core/backends/tpu/tpu_target.h"
#include "xla_core/buffers/copies.h"
#include "xla_core/compile/compiler.h"
#include "xla_core/fusion/fusion.h"
#include "xla_core/layout/layout.h"
#include "xla_core/schedule/schedule.h"
#include "xla_core/spmd/partition.h"

namespace armillary {

std::vector<const Target*> all_targets() { return {&cpu::target(), &tpu::target()}; }

const Target& target_from_name(std::string_view name) {
  std::string known;
  for (const Target* t : all_targets()) {
    if (t->name == name) {
      if (t->emit == nullptr) throw unsupported_error("target {}: {}", name, t->unavailable);
      return *t;
    }
    known += (known.empty() ? "" : ", ") + std::string(t->name);
  }
  throw user_error("there is no target '{}'; there is: {}", name, known);
}

void register_all_passes() {
  constexpr bool kNeeded = true;
  static const std::vector<PassRow> rows = {
      {"spmd-partition",
       "Turns a program over whole arrays with shardings into the program of one device with collectives.",
       partition, kNeeded},
      {"expand-bitcasts", "Writes bitcasts between other layouts than row-major as permutations.",
       [](Module& m, const PassContext&) { return expand_bitcasts(m); }, kNeeded},
      {"custom-call-layouts", "Arranges arrays for custom calls that state other layouts than row-major.",
       [](Module& m, const PassContext&) { return lay_out_custom_calls(m); }, kNeeded},
      {"layout", "Gives every array a row-major layout.",
       [](Module& m, const PassContext&) { return assign_layouts(m); }, kNeeded},
      {"entry-layouts", "Lets parameters and results lie in memory as the entry layout says.",
       [](Module& m, const PassContext&) { return lay_out_entry(m); }, kNeeded},
      {"fusion",
       "Merges producers into consumers where that saves memory traffic and repeats nothing expensive.",
       fuse},
      {"flatten-call-graph", "Gives each while, conditional and call computations of its own.",
       [](Module& m, const PassContext&) { return flatten_call_graph(m); }, kNeeded},
      {"loop-copies", "Copies loop state that the body hands on at another place.",
       [](Module& m, const PassContext&) { return insert_loop_copies(m); }, kNeeded},
      {"schedule", "Orders instructions so that few bytes are alive at once.",
       [](Module& m, const PassContext&) { return minimise_memory(m); }, kNeeded},
  };
  register_passes(rows);
}

}  // namespace armillary
