#include "tpu_sim/pod/report.h"

#include <fmt/core.h>

#include <algorithm>

namespace armillary::sim {
namespace {

constexpr std::array<std::string_view, kNumTracks> kTrackNames = {"core", "dma", "ici", "dcn", "host"};

double seconds(Tick ticks) { return static_cast<double>(ticks) / kTicksPerSecond; }

// Of the last command of each label.
void fill_bounds(const std::vector<Step>& steps, std::vector<OpTime>& ops) {
  for (const Step& step : steps) {
    std::string_view bound = step.price.bound;
    if (std::holds_alternative<Wait>(step.command->what)) bound = "wait";
    if (step.collective.resources != 0) bound = step.collective.resources & kDcn ? "dcn" : "ici";
    ops[step.label].bound = bound;
    for (const auto& body : step.bodies) fill_bounds(body, ops);
  }
}

void fill_ops(Timeline& timeline, const StepList& list, const Totals& totals) {
  timeline.ops.resize(list.labels.size());
  for (size_t i = 0; i < list.labels.size(); ++i) {
    const LabelTotals& t = totals.labels[i];
    timeline.ops[i] = {list.labels[i], t.runs, seconds(t.core), seconds(t.background), ""};
  }
  fill_bounds(list.steps, timeline.ops);
}

Roofline roofline_of(const Timeline& t, const Device& device) {
  Roofline r;
  const double bandwidth = device.hbm_nominal_bytes_per_tick * kTicksPerSecond;
  r.flops_per_byte = t.hbm_bytes > 0 ? t.flops / t.hbm_bytes : 0;
  r.ridge = t.peak_flops / bandwidth;
  r.achieved = t.seconds > 0 ? t.flops / t.seconds : 0;
  r.attainable = t.hbm_bytes > 0 ? std::min(t.peak_flops, r.flops_per_byte * bandwidth) : t.peak_flops;
  return r;
}

}  // namespace

std::string_view to_string(Track track) { return kTrackNames[static_cast<size_t>(track)]; }

std::string mfu_formula(const Chip& chip) {
  return fmt::format(
      "FLOPs of the program's operations on one device (each once, without padding or repeated passes) / "
      "(seconds x {} peak of the device)",
      chip["peak_bf16_flops"] > 0 ? "bf16" : "int8");
}

void fill_report(Timeline& timeline, const StepList& list, const Pod& pod, Machine& machine) {
  const Totals& totals = machine.totals();
  const Device device(pod.chip);
  timeline.seconds = seconds(machine.now());
  timeline.flops = totals.flops;
  timeline.peak_flops = device.peak_flops;
  const double possible = timeline.seconds * timeline.peak_flops;
  timeline.mfu = possible > 0 ? timeline.flops / possible : 0;
  timeline.hbm_bytes = totals.hbm_bytes;
  for (size_t i = 0; i < timeline.by_class.size(); ++i) timeline.by_class[i] = seconds(totals.by_class[i]);
  fill_ops(timeline, list, totals);
  timeline.exposed_communication_seconds = seconds(totals.exposed_communication);
  timeline.exposed_copy_seconds = seconds(totals.exposed_copy);
  timeline.communication_seconds = seconds(totals.communication);
  for (size_t k = 0; k < timeline.by_kind.size(); ++k)
    timeline.by_kind[k] = {seconds(totals.communication_by_kind[k]), seconds(totals.exposed_by_kind[k])};
  const auto share = [&](Tick busy) { return timeline.seconds > 0 ? seconds(busy) / timeline.seconds : 0; };
  timeline.utilization = {share(totals.mxu), share(totals.vpu), share(totals.xlu),
                          share(totals.hbm), share(totals.ici), share(totals.dcn)};
  timeline.roofline = roofline_of(timeline, device);
}

}  // namespace armillary::sim
