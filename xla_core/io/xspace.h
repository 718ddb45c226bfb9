// Timelines as XProf reads them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace armillary {

// A statistic, under the name by which XProf's tables look for it.
struct TraceStat {
  const char* name;
  std::variant<int64_t, double, std::string> value;  // an empty text is left out
};
// What all events of one kind have in common.
struct TraceName {
  std::string name;
  std::vector<TraceStat> stats = {};
  size_t repeated = 0;  // so many of them, the first, stand at each event too, for who reads events alone
};
struct TraceEvent {
  size_t name = 0;  // into the names of the plane
  int64_t begin_ps = 0, duration_ps = 0;
  std::vector<TraceStat> stats = {};
};
struct TraceLine {
  std::string name;
  int64_t begin_ns = 0;  // from where its events are counted
  std::vector<TraceEvent> events = {};
};
struct TracePlane {
  std::string name;
  std::vector<TraceStat> stats = {};
  std::vector<TraceName> names = {};
  std::vector<TraceLine> lines = {};
};

struct TraceOp {
  std::string name, category, op_name, source;
  double flops = 0, bytes = 0;  // of one run
  std::string text = {};        // the whole instruction
};
// With all statistics that the tables of ops ask for; `symbol` is the op's number in its program. The first
// kOpStats are of the op alone.
inline constexpr size_t kOpStats = 6;
TraceName name_of(const TraceOp& op, int64_t program, int64_t symbol);

// A serialised XSpace.
std::string to_xspace(std::span<const TracePlane> planes);

struct TraceSpan {
  int64_t row = 0, op = 0;    // into the lists beside
  double start = 0, end = 0;  // seconds
};
// One step of one program on a simulated device.
struct Trace {
  std::string device;   // "/device:TPU:0"
  std::string kind;     // "TPU v5e"
  std::string program;  // whose one step this is
  double seconds = 0, peak_flops = 0, hbm_bytes_per_s = 0;
  std::vector<std::string> rows;
  std::vector<TraceOp> ops;
  std::vector<TraceSpan> spans;
};

// One plane, a line for each row, and those by which XProf finds the step and its program. Throws a user
// error on rows and ops that do not exist.
std::string to_xspace(const Trace& trace);

}  // namespace armillary
