// A timeline as XProf reads it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace armillary {

struct TraceOp {
  std::string name, category, op_name, source;
  double flops = 0, bytes = 0;  // of one run
};
struct TraceSpan {
  int64_t row = 0, op = 0;    // into the lists beside
  double start = 0, end = 0;  // seconds
};
struct Trace {
  std::string device;   // "/device:TPU:0"
  std::string kind;     // "TPU v5e"
  std::string program;  // whose one step this is
  double seconds = 0, peak_flops = 0, hbm_bytes_per_s = 0;
  std::vector<std::string> rows;
  std::vector<TraceOp> ops;
  std::vector<TraceSpan> spans;
};

// A serialised XSpace: one plane, a line for each row, and those by which XProf finds the step and its
// program. Throws a user error on rows and ops that do not exist.
std::string to_xspace(const Trace& trace);

}  // namespace armillary
