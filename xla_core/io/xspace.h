// A timeline as XProf reads it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace armillary {

struct TraceOp {
  std::string name, category, op_name, source;
};
struct TraceSpan {
  int64_t row = 0, op = 0;    // into the lists beside
  double start = 0, end = 0;  // seconds
};
struct Trace {
  std::string device;
  std::vector<std::string> rows;
  std::vector<TraceOp> ops;
  std::vector<TraceSpan> spans;
};

// A serialised XSpace: one plane, a line for each row. Throws a user error on rows and ops that do not exist.
std::string to_xspace(const Trace& trace);

}  // namespace armillary
