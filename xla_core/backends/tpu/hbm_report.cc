#include "xla_core/backends/tpu/hbm_report.h"

#include <algorithm>
#include <map>

namespace armillary::tpu {
namespace {

constexpr size_t kLargest = 10;

// The tick at which most bytes of temporaries are alive.
int64_t busiest_tick(const Values& values) {
  std::map<int64_t, int64_t> change;
  for (int32_t v = 0; v < values.size(); ++v) {
    if (values.at(v).kind != Value::kDefined) continue;
    for (const Segment& s : values.at(v).segments) {
      change[s.begin] += values.at(v).size;
      change[s.end + 1] -= values.at(v).size;
    }
  }
  int64_t alive = 0, most = -1, tick = 0;
  for (const auto& [at, delta] : change) {
    alive += delta;
    if (alive > most) most = alive, tick = at;
  }
  return tick;
}

bool alive_at(const Value& value, int64_t tick) {
  if (value.kind != Value::kDefined) return true;
  return std::any_of(value.segments.begin(), value.segments.end(),
                     [&](const Segment& s) { return s.begin <= tick && tick <= s.end; });
}

std::string_view kind_name(Allocation::Kind kind) {
  switch (kind) {
    case Allocation::kParameter:
      return "argument";
    case Allocation::kConstant:
      return "constant";
    case Allocation::kResult:
      return "result";
    case Allocation::kTemporary:
      break;
  }
  return "temporary";
}

HbmBuffer describe(const Value& value, Allocation::Kind kind) {
  const Instruction& i = *value.instruction;
  return {.bytes = value.size,
          .kind = std::string(kind_name(kind)),
          .name = i.name(),
          .shape = to_string(*leaves_of(i.shape())[value.leaf]),
          .op_name = i.metadata().op_name,
          .source = i.source_line()};
}

}  // namespace

HbmReport hbm_report(const Module&, const Values& values, const Assignment& assignment) {
  HbmReport report;
  for (const Allocation& a : assignment.allocations) {
    report.peak_bytes += a.size;
    if (a.kind == Allocation::kParameter) report.argument_bytes += a.size;
    if (a.kind == Allocation::kResult) report.result_bytes += a.size;
    if (a.kind == Allocation::kTemporary) report.temporary_bytes += a.size;
  }
  const int64_t tick = busiest_tick(values);
  // What shares memory is listed once, by its largest value.
  std::map<std::pair<int32_t, int64_t>, int32_t> owner;
  for (int32_t v = 0; v < values.size(); ++v) {
    const Value& value = values.at(v);
    if (!alive_at(value, tick)) continue;
    const Slice& slice = assignment.of(value.instruction).at(value.leaf);
    if (slice.allocation < 0) continue;
    auto [found, fresh] = owner.try_emplace({slice.allocation, slice.offset}, v);
    if (!fresh && values.at(found->second).size < value.size) found->second = v;
  }
  for (const auto& [place, v] : owner)
    report.largest.push_back(describe(values.at(v), assignment.allocations[place.first].kind));
  std::stable_sort(report.largest.begin(), report.largest.end(),
                   [](const HbmBuffer& a, const HbmBuffer& b) { return a.bytes > b.bytes; });
  if (report.largest.size() > kLargest) report.largest.resize(kLargest);
  return report;
}

}  // namespace armillary::tpu
