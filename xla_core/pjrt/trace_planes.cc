// A trace as XProf shows it: a plane a device, with lines for programs, for their steps, and for other work.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "xla_core/analysis/cost.h"
#include "xla_core/hlo/text.h"
#include "xla_core/pjrt/executable.h"
#include "xla_core/pjrt/trace.h"

namespace armillary::pjrt {
namespace {

// The viewer of traces shows devices that are neither GPUs nor TPUs under this name only.
constexpr std::string_view kPlane = "/device:CUSTOM:";
// How a plane says that a call of the host led to an event: the kind of call, and its number.
constexpr const char *kCallKind = "_ct", *kCall = "_c";
constexpr int64_t kPluginCall = 14;

// In the words of XLA's profiles.
std::string category_of(const Instruction& i) {
  if (i.is(Op::fusion)) {
    std::string kind = i.attrs().text(Attr::kind).substr(1);  // kLoop
    std::transform(kind.begin(), kind.end(), kind.begin(), [](unsigned char c) { return std::tolower(c); });
    return kind + " fusion";
  }
  if (i.is(Op::copy) || i.def().meaning == Meaning::kIndex) return "data formatting";
  return i.def().is_pointwise() ? "non-fusion elementwise" : std::string(i.def().name);
}

// What a program's steps are called and cost.
class ProgramNames {
 public:
  explicit ProgramNames(const Built& built)
      : id_(static_cast<int64_t>(std::stoull(built.fingerprint.substr(0, 15), nullptr, 16))),
        name_(fmt::format("{}({})", built.name, id_)) {
    for (const Computation* c : built.executable->module().reachable())
      for (const Instruction* i : c->instructions()) instructions_.emplace(i->name(), i);
    count(built.executable->program().steps);
  }

  int64_t id() const { return id_; }
  const std::string& name() const { return name_; }

  TraceName name_of_step(const Step& step) const {
    constexpr std::string_view kCopy = "copy for ";
    const bool is_copy = step.name.starts_with(kCopy);
    const auto at = instructions_.find(is_copy ? step.name.substr(kCopy.size()) : step.name);
    TraceOp op{.name = step.name, .category = "copy", .op_name = step.op_name, .source = {}};
    if (is_copy) op.bytes = 2.0 * static_cast<double>(step.buffers[0].size);
    if (at == instructions_.end()) return armillary::name_of(op, id_, 0);
    const Instruction& i = *at->second;
    op.op_name = i.metadata().op_name;
    op.source = i.source_line();
    if (!is_copy) {
      op.category = category_of(i);
      op.text = print(i, {.metadata = false, .max_constant_elements = 16});
      if (!i.has(kCallsControl)) add_cost(i, op);  // the steps inside say what they cost
    }
    return armillary::name_of(op, id_, i.id());
  }

 private:
  // An instruction may take several steps.
  void add_cost(const Instruction& i, TraceOp& op) const {
    const Cost cost = cost_of(i);
    const auto steps = static_cast<double>(steps_.at(i.name()));
    op.flops = cost.flops / steps;
    op.bytes = cost.bytes / steps;
  }
  void count(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      ++steps_[step.name];
      for (const std::vector<Step>& block : step.blocks) count(block);
    }
  }

  const int64_t id_;
  const std::string name_;
  std::unordered_map<std::string, const Instruction*> instructions_;
  std::unordered_map<std::string, int64_t> steps_;
};

class Planes;

// Events of one line do not overlap unless one holds the other: where they would, the later goes to another.
class Lanes {
 public:
  size_t lane_for(int64_t begin, int64_t end) {
    for (size_t n = 0; n < ends_.size(); ++n)
      if (ends_[n] <= begin) {
        ends_[n] = end;
        return n;
      }
    ends_.push_back(end);
    return ends_.size() - 1;
  }

 private:
  std::vector<int64_t> ends_;
};

class PlaneBuilder {
 public:
  PlaneBuilder(const TracedDevice& device, const TraceContent& content) : content_(content) {
    std::string platform(device.platform);
    std::transform(platform.begin(), platform.end(), platform.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    plane_.name = fmt::format("{}{}:{}", kPlane, platform, device.id);
  }

  // Runs come in the order in which they began.
  void add(const TracedRun& run, const TracedRun::OnDevice& on, const ProgramNames& names) {
    const int64_t ended = run.end_ns, end = ended == 0 ? content_.end_ns : std::min(ended, content_.end_ns);
    const size_t lane = run_lanes_.lane_for(run.begin_ns, end);
    std::vector<TraceStat> stats = {{"run_id", run.number}, {"program_id", names.id()}};
    if (run.call != 0) stats.insert(stats.end(), {{kCallKind, kPluginCall}, {kCall, run.call}});
    line("XLA Modules", lane)
        .events.push_back(event(text_name(names.name()), run.begin_ns, end, std::move(stats)));
    TraceLine& ops = line("XLA Ops", lane);
    std::lock_guard lock(on.mutex);
    const auto first = static_cast<int64_t>(ops.events.size());
    for (const TracedSpan& span : on.spans)
      ops.events.push_back(event(step_name(*span.step, names), span.begin_ns, span.end_ns));
    // A loop ends after its steps, and stands before them.
    std::stable_sort(ops.events.begin() + first, ops.events.end(),
                     [](const TraceEvent& a, const TraceEvent& b) {
                       if (a.begin_ps != b.begin_ps) return a.begin_ps < b.begin_ps;
                       return a.duration_ps > b.duration_ps;
                     });
  }

  void add(const TracedWork& work) {
    std::vector<TraceStat> stats;
    if (work.bytes > 0) stats.push_back({"bytes", work.bytes});
    line(work.line, work_lanes_[work.line].lane_for(work.begin_ns, work.end_ns))
        .events.push_back(event(text_name(work.name), work.begin_ns, work.end_ns, std::move(stats)));
  }

  void say_that_events_were_dropped() {
    const std::string note =
        fmt::format("what came later was dropped: the trace holds {} events, see armillary_max_events",
                    content_.most_events);
    line("Dropped", 0).events.push_back(event(text_name(note), content_.first_dropped_ns, content_.end_ns));
  }

  TracePlane take() { return std::move(plane_); }

 private:
  TraceEvent event(size_t name, int64_t begin_ns, int64_t end_ns, std::vector<TraceStat> stats = {}) const {
    constexpr int64_t kPicoseconds = 1000;
    const int64_t begin = std::max<int64_t>(0, begin_ns - content_.begin_ns);
    const int64_t end = std::max(begin, end_ns - content_.begin_ns);
    return {name, begin * kPicoseconds, (end - begin) * kPicoseconds, std::move(stats)};
  }

  TraceLine& line(const std::string& name, size_t lane) {
    const auto [at, is_new] = lines_.try_emplace({name, lane}, plane_.lines.size());
    if (is_new)
      plane_.lines.push_back({lane == 0 ? name : fmt::format("{} {}", name, lane + 1), content_.begin_ns});
    return plane_.lines[at->second];
  }

  size_t text_name(const std::string& text) {
    const auto [at, is_new] = texts_.try_emplace(text, plane_.names.size());
    if (is_new) plane_.names.push_back({text});
    return at->second;
  }
  size_t step_name(const Step& step, const ProgramNames& names) {
    const auto [at, is_new] = steps_.try_emplace(&step, plane_.names.size());
    if (is_new) {
      plane_.names.push_back(names.name_of_step(step));
      plane_.names.back().repeated = kOpStats;
    }
    return at->second;
  }

  const TraceContent& content_;
  TracePlane plane_;
  Lanes run_lanes_;
  std::map<std::string, Lanes> work_lanes_;
  std::map<std::pair<std::string, size_t>, size_t> lines_;
  std::unordered_map<std::string, size_t> texts_;
  std::unordered_map<const Step*, size_t> steps_;
};

template <class List, class Begin>
List in_order(List list, Begin begin) {
  std::stable_sort(list.begin(), list.end(),
                   [&](const auto& a, const auto& b) { return begin(a) < begin(b); });
  return list;
}

}  // namespace

std::vector<TracePlane> planes_of(const TraceContent& content) {
  std::map<const Built*, ProgramNames> programs;
  std::map<TracedDevice, PlaneBuilder> builders;
  const auto plane = [&](const TracedDevice& device) -> PlaneBuilder& {
    return builders.try_emplace(device, device, content).first->second;
  };
  for (const auto& run : in_order(content.runs, [](const auto& r) { return r->begin_ns; }))
    for (const auto& on : run->devices)
      plane(on->device).add(*run, *on, programs.try_emplace(run->built.get(), *run->built).first->second);
  for (const TracedWork& work : in_order(content.works, [](const TracedWork& w) { return w.begin_ns; }))
    plane(work.device).add(work);
  if (content.first_dropped_ns != 0 && !builders.empty())
    builders.begin()->second.say_that_events_were_dropped();
  std::vector<TracePlane> planes;
  for (auto& [device, builder] : builders) planes.push_back(builder.take());
  return planes;
}

}  // namespace armillary::pjrt
