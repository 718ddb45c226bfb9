#include "xla_core/io/xspace.h"

#include <cmath>

#include "xla_core/base/error.h"
#include "xla_core/io/xspace.pb.h"

namespace armillary {
namespace {

constexpr double kPicoseconds = 1e12;

constexpr int64_t kProgram = 1;  // its number

// Statistics by the names under which XProf's tables look for them.
enum Stat : int64_t {
  kCategory = 1,
  kOpName,
  kSource,
  kProgramId,
  kSymbolId,
  kFlops,
  kModelFlops,
  kBytes,
  kGroup,
  kPeakTeraflops,
  kPeakGigabytes,
  kDeviceType
};
constexpr const char* kStats[] = {"hlo_category",
                                  "tf_op",
                                  "source",
                                  "program_id",
                                  "symbol_id",
                                  "flops",
                                  "model_flops",
                                  "bytes_accessed",
                                  "group_id",
                                  "peak_teraflops_per_second",
                                  "peak_hbm_bw_gigabytes_per_second",
                                  "device_type_string"};

template <class Holder>
void add_stat(Holder& holder, Stat stat, const std::string& text) {
  if (text.empty()) return;
  xprof::XStat* added = holder.add_stats();
  added->set_metadata_id(stat);
  added->set_str_value(text);
}
template <class Holder>
void add_stat(Holder& holder, Stat stat, int64_t value) {
  xprof::XStat* added = holder.add_stats();
  added->set_metadata_id(stat);
  added->set_int64_value(value);
}
template <class Holder>
void add_stat(Holder& holder, Stat stat, double value) {
  xprof::XStat* added = holder.add_stats();
  added->set_metadata_id(stat);
  added->set_double_value(value);
}

xprof::XEventMetadata& add_name(xprof::XPlane& plane, int64_t id, const std::string& name) {
  xprof::XEventMetadata& added = (*plane.mutable_event_metadata())[id];
  added.set_id(id);
  added.set_name(name);
  added.set_display_name(name);
  return added;
}

void add_op(xprof::XPlane& plane, int64_t id, const TraceOp& op) {
  xprof::XEventMetadata& added = add_name(plane, id, op.name);
  add_stat(added, kCategory, op.category);
  add_stat(added, kOpName, op.op_name);
  add_stat(added, kSource, op.source);
  // Without these two the tables leave an op out.
  add_stat(added, kProgramId, kProgram);
  add_stat(added, kSymbolId, id);
  add_stat(added, kFlops, std::lround(op.flops));
  add_stat(added, kModelFlops, std::lround(op.flops));
  add_stat(added, kBytes, std::lround(op.bytes));
}

xprof::XLine& add_line(xprof::XPlane& plane, const std::string& name) {
  xprof::XLine& line = *plane.add_lines();
  line.set_id(plane.lines_size());
  line.set_name(name);
  return line;
}

int64_t picoseconds(double seconds) { return std::llround(seconds * kPicoseconds); }

xprof::XEvent& add_event(xprof::XLine& line, int64_t id, double start, double end) {
  xprof::XEvent& event = *line.add_events();
  event.set_metadata_id(id);
  event.set_offset_ps(picoseconds(start));
  event.set_duration_ps(picoseconds(end) - picoseconds(start));
  add_stat(event, kGroup, int64_t{0});
  return event;
}

// One step, of one program.
void add_step(xprof::XPlane& plane, const Trace& trace) {
  const int64_t step = static_cast<int64_t>(trace.ops.size()) + 1, program = step + 1;
  add_name(plane, step, "0");
  add_name(plane, program, trace.program + "(" + std::to_string(kProgram) + ")");
  add_event(add_line(plane, "Steps"), step, 0, trace.seconds);
  add_event(add_line(plane, "XLA Modules"), program, 0, trace.seconds);
}

void describe_device(xprof::XPlane& plane, const Trace& trace) {
  plane.set_id(1);
  plane.set_name(trace.device);
  add_stat(plane, kPeakTeraflops, trace.peak_flops * 1e-12);
  add_stat(plane, kPeakGigabytes, trace.hbm_bytes_per_s * 1e-9);
  add_stat(plane, kDeviceType, trace.kind);
}

}  // namespace

std::string to_xspace(const Trace& trace) {
  xprof::XSpace space;
  xprof::XPlane& plane = *space.add_planes();
  describe_device(plane, trace);
  for (int64_t id = 1; const char* name : kStats) {
    xprof::XStatMetadata& added = (*plane.mutable_stat_metadata())[id];
    added.set_id(id++);
    added.set_name(name);
  }
  for (size_t n = 0; n < trace.ops.size(); ++n) add_op(plane, static_cast<int64_t>(n) + 1, trace.ops[n]);
  for (const std::string& row : trace.rows) add_line(plane, row);
  for (const TraceSpan& span : trace.spans) {
    if (span.row < 0 || span.row >= plane.lines_size() || span.op < 0 ||
        span.op >= static_cast<int64_t>(trace.ops.size()))
      throw user_error("a span of op {} on row {}, but there are {} ops and {} rows", span.op, span.row,
                       trace.ops.size(), trace.rows.size());
    add_event(*plane.mutable_lines(static_cast<int>(span.row)), span.op + 1, span.start, span.end);
  }
  add_step(plane, trace);
  return space.SerializeAsString();
}

}  // namespace armillary
