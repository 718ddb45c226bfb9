#include "xla_core/io/xspace.h"

#include <cmath>
#include <unordered_map>

#include "xla_core/io/xspace.pb.h"

namespace armillary {
namespace {

class PlaneWriter {
 public:
  PlaneWriter(xprof::XPlane& plane, int64_t id) : plane_(plane) { plane_.set_id(id); }

  void write(const TracePlane& given) {
    plane_.set_name(given.name);
    add_stats(plane_, given.stats);
    for (size_t n = 0; n < given.names.size(); ++n) add_name(static_cast<int64_t>(n) + 1, given.names[n]);
    for (const TraceName& name : given.names) repeated_.push_back(references(name));
    for (const TraceLine& line : given.lines) add_line(line);
  }

 private:
  // Ids count from 1: 0 means that there is none.
  int64_t id_of(const std::string& stat) {
    const auto next = static_cast<int64_t>(ids_.size()) + 1;
    const auto [at, is_new] = ids_.try_emplace(stat, next);
    if (is_new) {
      xprof::XStatMetadata& added = (*plane_.mutable_stat_metadata())[next];
      added.set_id(next);
      added.set_name(stat);
    }
    return at->second;
  }

  static void set_number(const TraceStat& stat, xprof::XStat& out) {
    if (const auto* number = std::get_if<int64_t>(&stat.value)) out.set_int64_value(*number);
    if (const auto* number = std::get_if<double>(&stat.value)) out.set_double_value(*number);
  }

  template <class Holder>
  void add_stats(Holder& holder, const std::vector<TraceStat>& stats) {
    for (const TraceStat& stat : stats) {
      const auto* text = std::get_if<std::string>(&stat.value);
      if (text != nullptr && text->empty()) continue;
      xprof::XStat& added = *holder.add_stats();
      added.set_metadata_id(id_of(stat.name));
      if (text != nullptr) added.set_str_value(*text);
      set_number(stat, added);
    }
  }

  // A text stands once in the plane, as the name of a statistic.
  std::vector<xprof::XStat> references(const TraceName& name) {
    std::vector<xprof::XStat> out;
    for (size_t n = 0; n < name.repeated; ++n) {
      const TraceStat& stat = name.stats[n];
      const auto* text = std::get_if<std::string>(&stat.value);
      if (text != nullptr && text->empty()) continue;
      xprof::XStat& added = out.emplace_back();
      added.set_metadata_id(id_of(stat.name));
      if (text != nullptr) added.set_ref_value(static_cast<uint64_t>(id_of(*text)));
      set_number(stat, added);
    }
    return out;
  }

  void add_name(int64_t id, const TraceName& given) {
    xprof::XEventMetadata& added = (*plane_.mutable_event_metadata())[id];
    added.set_id(id);
    added.set_name(given.name);
    added.set_display_name(given.name);
    add_stats(added, given.stats);
  }

  void add_line(const TraceLine& given) {
    xprof::XLine& line = *plane_.add_lines();
    line.set_id(plane_.lines_size());
    line.set_name(given.name);
    line.set_timestamp_ns(given.begin_ns);
    for (const TraceEvent& event : given.events) {
      xprof::XEvent& added = *line.add_events();
      added.set_metadata_id(static_cast<int64_t>(event.name) + 1);
      added.set_offset_ps(event.begin_ps);
      added.set_duration_ps(event.duration_ps);
      for (const xprof::XStat& stat : repeated_[event.name]) *added.add_stats() = stat;
      add_stats(added, event.stats);
    }
  }

  xprof::XPlane& plane_;
  std::unordered_map<std::string, int64_t> ids_;
  std::vector<std::vector<xprof::XStat>> repeated_;  // by the number of the name
};

}  // namespace

std::string to_xspace(std::span<const TracePlane> planes) {
  xprof::XSpace space;
  for (const TracePlane& plane : planes) {
    xprof::XPlane& added = *space.add_planes();
    PlaneWriter(added, space.planes_size()).write(plane);
  }
  return space.SerializeAsString();
}

TraceName name_of(const TraceOp& op, int64_t program, int64_t symbol) {
  const auto flops = static_cast<int64_t>(std::lround(op.flops));
  return {op.name,
          {{"hlo_category", op.category},
           {"long_name", op.text},
           {"tf_op", op.op_name},
           {"source", op.source},
           {"flops", flops},
           {"bytes_accessed", static_cast<int64_t>(std::lround(op.bytes))},
           {"model_flops", flops},
           // Without these two the tables leave an op out.
           {"program_id", program},
           {"symbol_id", symbol}}};
}

}  // namespace armillary
