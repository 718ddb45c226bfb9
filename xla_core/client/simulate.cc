#include "xla_core/client/simulate.h"

#include "xla_core/backends/tpu/machine.h"
#include "xla_core/base/flags.h"
#include "xla_core/client/array_values.h"

namespace armillary {
namespace {

const Simulated& simulated(const Executable& executable) {
  const auto& record = executable.program().simulated;
  if (!record) throw user_error("{} was not compiled for a simulated target", executable.module().name());
  return *record;
}

std::string gib(double bytes) { return fmt::format("{:.3f} GiB", bytes / (1 << 30)); }

}  // namespace

std::shared_ptr<const Machine> machine_of(const sim::Pod& pod, std::vector<int> places) {
  auto collective = [pod](const sim::CollectiveStart& start) { return sim::collective_seconds(start, pod); };
  return std::make_shared<const Machine>(
      Machine{pod.chip, pod.devices(), std::move(collective), flags().tpu_unknown_trips, std::move(places)});
}

std::shared_ptr<Executable> compile_for(std::unique_ptr<Module> module, const sim::Pod& pod,
                                        const PodOptions& options) {
  if (options.partitions > 0) module->num_partitions = options.partitions;
  const int64_t devices = module->replica_count * module->num_partitions;
  const int64_t places = options.places.empty() ? pod.devices() : static_cast<int64_t>(options.places.size());
  if (devices != places)
    throw user_error(
        "{} is written for {} device{}, but the topology has {}: its arguments are to be cut over a mesh of "
        "as many",
        module->name(), devices, devices == 1 ? "" : "s", places);
  CompileOptions compile;
  compile.target = "tpu";
  compile.machine = machine_of(pod, options.places);
  compile.values = options.values;
  compile.overlap = options.overlap;
  compile.entry_layouts = options.entry_layouts;
  if (options.array) compile.prepare_values = [chip = pod.chip](Module& m) { use_array_for_dots(m, chip); };
  return Executable::compile(std::move(module), compile);
}

sim::Timeline simulate(const Executable& executable, const sim::Pod& pod,
                       const sim::SimulateOptions& options) {
  sim::Timeline timeline = sim::simulate(*simulated(executable).commands, pod, options);
  for (const std::string& note : simulated(executable).notes) timeline.notes.push_back(note);
  return timeline;
}

double hbm_capacity(const sim::Pod& pod) { return pod.chip["hbm_bytes"] / pod.chip["devices_per_chip"]; }

std::string describe(const HbmReport& report, double capacity) {
  std::string text = fmt::format(
      "HBM of one device: {} of {} at the peak: arguments {}, results {}, temporaries {}",
      gib(static_cast<double>(report.peak_bytes)), gib(capacity),
      gib(static_cast<double>(report.argument_bytes)), gib(static_cast<double>(report.result_bytes)),
      gib(static_cast<double>(report.temporary_bytes)));
  for (const HbmBuffer& b : report.largest)
    text += fmt::format("\n  {:>12}  {:<9}  {}  {}{}{}", gib(static_cast<double>(b.bytes)), b.kind, b.name,
                        b.shape, b.source.empty() ? "" : "  " + b.source,
                        b.op_name.empty() ? "" : "  " + b.op_name);
  return text;
}

void check_fits(const Executable& executable, const sim::Pod& pod) {
  const HbmReport& report = simulated(executable).hbm;
  const double capacity = hbm_capacity(pod);
  if (static_cast<double>(report.peak_bytes) <= capacity) return;
  throw resource_error("{} needs {} of HBM, but a {} device has {}\n{}", executable.module().name(),
                       gib(static_cast<double>(report.peak_bytes)), pod.chip.name(), gib(capacity),
                       describe(report, capacity));
}

}  // namespace armillary
