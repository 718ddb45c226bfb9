// The step of a simulated device as a plane of XProf's.
#include <cmath>

#include "xla_core/base/error.h"
#include "xla_core/io/xspace.h"

namespace armillary {
namespace {

constexpr int64_t kProgram = 1;  // its number

TraceEvent event(size_t name, double start, double end) {
  const auto picoseconds = [](double seconds) {
    constexpr double kPicoseconds = 1e12;
    return static_cast<int64_t>(std::llround(seconds * kPicoseconds));
  };
  return {name, picoseconds(start), picoseconds(end) - picoseconds(start), {{"group_id", int64_t{0}}}};
}

}  // namespace

std::string to_xspace(const Trace& trace) {
  TracePlane plane{trace.device,
                   {{"peak_teraflops_per_second", trace.peak_flops * 1e-12},
                    {"peak_hbm_bw_gigabytes_per_second", trace.hbm_bytes_per_s * 1e-9},
                    {"device_type_string", trace.kind}}};
  for (const TraceOp& op : trace.ops)
    plane.names.push_back(name_of(op, kProgram, static_cast<int64_t>(plane.names.size()) + 1));
  for (const std::string& row : trace.rows) plane.lines.push_back({row});
  for (const TraceSpan& span : trace.spans) {
    if (span.row < 0 || span.row >= static_cast<int64_t>(trace.rows.size()) || span.op < 0 ||
        span.op >= static_cast<int64_t>(trace.ops.size()))
      throw user_error("a span of op {} on row {}, but there are {} ops and {} rows", span.op, span.row,
                       trace.ops.size(), trace.rows.size());
    plane.lines[span.row].events.push_back(event(static_cast<size_t>(span.op), span.start, span.end));
  }
  const size_t step = plane.names.size();
  plane.names.push_back({"0"});
  plane.names.push_back({trace.program + "(" + std::to_string(kProgram) + ")"});
  plane.lines.push_back({"Steps", 0, {event(step, 0, trace.seconds)}});
  plane.lines.push_back({"XLA Modules", 0, {event(step + 1, 0, trace.seconds)}});
  return to_xspace(std::span(&plane, 1));
}

}  // namespace armillary
