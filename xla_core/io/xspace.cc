#include "xla_core/io/xspace.h"

#include <cmath>

#include "xla_core/base/error.h"
#include "xla_core/io/xspace.pb.h"

namespace armillary {
namespace {

constexpr double kPicoseconds = 1e12;

// Statistics that XProf's tables know by these names.
enum Stat : int64_t { kCategory = 1, kOpName = 2, kSource = 3 };
struct StatName {
  Stat id;
  const char* name;
};
constexpr StatName kStats[] = {{kCategory, "hlo_category"}, {kOpName, "tf_op"}, {kSource, "source"}};

void add_stat(xprof::XEventMetadata& op, Stat stat, const std::string& text) {
  if (text.empty()) return;
  xprof::XStat* added = op.add_stats();
  added->set_metadata_id(stat);
  added->set_str_value(text);
}

void add_op(xprof::XPlane& plane, int64_t id, const TraceOp& op) {
  xprof::XEventMetadata& added = (*plane.mutable_event_metadata())[id];
  added.set_id(id);
  added.set_name(op.name);
  add_stat(added, kCategory, op.category);
  add_stat(added, kOpName, op.op_name);
  add_stat(added, kSource, op.source);
}

int64_t picoseconds(double seconds) { return std::llround(seconds * kPicoseconds); }

}  // namespace

std::string to_xspace(const Trace& trace) {
  xprof::XSpace space;
  xprof::XPlane& plane = *space.add_planes();
  plane.set_id(1);
  plane.set_name(trace.device);
  for (const StatName& stat : kStats) {
    xprof::XStatMetadata& added = (*plane.mutable_stat_metadata())[stat.id];
    added.set_id(stat.id);
    added.set_name(stat.name);
  }
  for (size_t n = 0; n < trace.ops.size(); ++n) add_op(plane, static_cast<int64_t>(n) + 1, trace.ops[n]);
  for (size_t n = 0; n < trace.rows.size(); ++n) {
    xprof::XLine& line = *plane.add_lines();
    line.set_id(static_cast<int64_t>(n) + 1);
    line.set_name(trace.rows[n]);
  }
  for (const TraceSpan& span : trace.spans) {
    if (span.row < 0 || span.row >= plane.lines_size() || span.op < 0 ||
        span.op >= static_cast<int64_t>(trace.ops.size()))
      throw user_error("a span of op {} on row {}, but there are {} ops and {} rows", span.op, span.row,
                       trace.ops.size(), trace.rows.size());
    xprof::XEvent& event = *plane.mutable_lines(static_cast<int>(span.row))->add_events();
    event.set_metadata_id(span.op + 1);
    event.set_offset_ps(picoseconds(span.start));
    event.set_duration_ps(picoseconds(span.end - span.start));
  }
  return space.SerializeAsString();
}

}  // namespace armillary
