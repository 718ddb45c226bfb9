// Collectives run beside computation: they are split into start and done, and moved apart.
#pragma once

#include <functional>

#include "xla_core/hlo/module.h"

namespace armillary {

struct OverlapOptions {
  // Seconds that an instruction keeps the core busy; of an async-start, how long what it starts takes beside
  // it.
  std::function<double(const Instruction&)> seconds;
  int64_t memory_limit =
      0;  // bytes alive at once that an order may reach where the order before was below; 0: none
  int64_t in_flight = 1;  // collectives that may be under way at once: they share the links
};

// Of one computation, callees counted by their cost.
struct OverlapReport {
  std::string computation;
  int64_t collectives = 0;
  double before = 0;       // seconds when every collective is waited for at once
  double after = 0;        // in the order that was chosen
  double lower_bound = 0;  // of any order: the critical path, the core's work, the links' work
  int64_t peak_before = 0, peak_after = 0;  // bytes alive at once
};

// Turns each collective of a scheduled computation into async-start and async-done, one behind the other.
bool split_collectives(Module& m);

// Orders a scheduled computation with starts and dones. From the end backwards: a done stands before its
// first reader, its start as soon as enough has been put between them; what else is ready keeps the order it
// had.
OverlapReport hide_latency(Computation& c, const OverlapOptions& options);

// Both, for all control-flow computations with collectives; loops' bodies first.
std::vector<OverlapReport> overlap_collectives(Module& m, const OverlapOptions& options);

// Seconds that an order takes when dones wait, and collectives follow each other on the links.
double seconds_of(const std::vector<Instruction*>& order, const OverlapOptions& options);

}  // namespace armillary
