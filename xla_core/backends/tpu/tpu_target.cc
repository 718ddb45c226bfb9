#include "xla_core/backends/tpu/tpu_target.h"

#include "xla_core/backends/tpu/hbm_report.h"
#include "xla_core/backends/tpu/lower.h"
#include "xla_core/backends/tpu/sharing.h"
#include "xla_core/backends/tpu/tiled.h"

namespace armillary::tpu {
namespace {

// What has no fast path is priced as slow, not refused.
bool can_run(const Instruction&, std::string*) { return true; }

bool updates_in_place(const Instruction& i, int64_t operand, int64_t leaf) {
  return updated_operand(i, leaf) == operand;
}

const Machine& needed(const Machine* machine) {
  if (machine == nullptr) throw internal_error("the tpu target needs a machine");
  return *machine;
}

void emit(const Module& m, const Assignment& assignment, const Machine* given, Program& program) {
  const Machine& machine = needed(given);
  const Values values(m, target());
  const Residents residents(m, values, resident_capacity(machine.chip));
  Lowering lowering(machine, {&values, &residents, &assignment});
  auto commands = std::make_shared<sim::Program>();
  commands->commands = lowering.lower(*m.entry());
  auto simulated = std::make_shared<Simulated>();
  simulated->commands = std::move(commands);
  simulated->hbm = hbm_report(m, values, assignment);
  simulated->notes = lowering.notes();
  program.simulated = std::move(simulated);
  program.replica_count = m.replica_count;
  program.num_partitions = m.num_partitions;
  for (const Instruction* p : m.entry()->parameters()) program.parameter_shapes.push_back(p->shape());
  program.result_shape = m.entry()->root()->shape();
}

// What an instruction asks of the core, asked once for each shape (Lowering remembers).
std::function<double(const Instruction&)> costs(const Machine* given) {
  const Machine& machine = needed(given);
  auto lowering = std::make_shared<Lowering>(machine, Places{});
  auto known = std::make_shared<std::unordered_map<const Instruction*, double>>();
  return [&machine, lowering, known](const Instruction& i) {
    auto [found, fresh] = known->try_emplace(&i, 0.0);
    if (!fresh || i.has(kAsyncDone)) return found->second;
    double seconds = 0;
    for (const sim::Command& command : lowering->lower(i)) {
      seconds += sim::estimate_seconds(command, machine.chip);
      const auto* start = std::get_if<sim::CollectiveStart>(&command.what);
      if (start != nullptr && machine.collective_seconds) seconds += machine.collective_seconds(*start);
    }
    (*known)[&i] = seconds;
    return seconds;
  };
}

int64_t memory_limit(const Machine* machine) {
  const sim::Chip& chip = needed(machine).chip;
  return static_cast<int64_t>(chip["hbm_bytes"] / chip["devices_per_chip"]);
}

}  // namespace

const Target& target() {
  static const Target tpu{
      .name = "tpu",
      .doc = "A simulated TPU: says when; the cpu target's program computes the values.",
      .can_run = can_run,
      .may_share = may_share,
      .updates_in_place = updates_in_place,
      .emit = emit,
      .fusion = {.contractions = true, .gathers = false},
      .before_fusion = "remove-barriers,simplify-tuples,sink-loop-state,simplify-loops,dce",
      .values_from = "cpu",
      .stored_bytes = tiled_bytes,
      .costs = costs,
      .memory_limit = memory_limit};
  return tpu;
}

}  // namespace armillary::tpu
