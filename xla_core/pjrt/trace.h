// What our devices did while somebody took a trace of them. Where nobody does, asking costs one relaxed load.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "xla_core/io/xspace.h"
#include "xla_core/pjrt/client.h"
#include "xla_core/runtime/runtime.h"

namespace armillary::pjrt {

class Built;

// A device outlives its client in a trace.
struct TracedDevice {
  std::string_view platform;  // one of ours, static
  int id = 0;
  friend auto operator<=>(const TracedDevice&, const TracedDevice&) = default;
};

struct TracedSpan {
  const Step* step;
  int64_t begin_ns, end_ns;
};

// A run of a program on its devices; the steps of each are written by its own thread.
struct TracedRun {
  struct OnDevice {
    TracedDevice device;
    mutable std::mutex mutex{};  // a trace may be read while a run goes on
    std::vector<TracedSpan> spans{};
  };
  std::shared_ptr<const Built> built;  // keeps the steps
  int64_t number = 0;                  // of the run, in this process
  int64_t call = 0;                    // what the host calls the call that led to it; 0: it does not say
  int64_t begin_ns = 0;
  std::atomic<int64_t> end_ns = 0;  // 0: still running
  std::vector<std::unique_ptr<OnDevice>> devices;
};

// What else a device did: a compilation, a transfer.
struct TracedWork {
  TracedDevice device;
  const char* line;  // static
  std::string name;
  int64_t begin_ns, end_ns, bytes;
};

// From the start of a trace until its stop; whoever began to record in it may outlive both.
class TraceSession {
 public:
  explicit TraceSession(int64_t most_events);

  // Each is an event less that fits; false when none does any more, or the trace is over.
  bool has_room();
  void add(std::shared_ptr<const TracedRun> run);
  void add(TracedWork work);
  void close();

  // Once it is closed; gives up what it held.
  std::vector<TracePlane> take_planes();

 private:
  const int64_t most_events_, begin_ns_;
  std::atomic<int64_t> room_;
  std::atomic<int64_t> first_dropped_ns_ = 0, end_ns_ = 0;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const TracedRun>> runs_;
  std::vector<TracedWork> works_;
};

extern std::atomic<bool> trace_is_taken;
inline bool is_traced() { return trace_is_taken.load(std::memory_order_relaxed); }

// One trace at a time: nullptr when one is taken already.
std::shared_ptr<TraceSession> start_trace(int64_t most_events);
void stop_trace(const std::shared_ptr<TraceSession>& session);

// Watches a run while it lives.
class RunTracer : public StepObserver {
 public:
  // nullptr: nobody takes a trace.
  static std::unique_ptr<RunTracer> begin(const PJRT_Client& client, std::shared_ptr<const Built> built,
                                          int64_t call);
  ~RunTracer() override;
  void ended(int64_t device, const Step& step, int64_t begin_ns, int64_t end_ns) override;

 private:
  std::shared_ptr<TraceSession> session_;
  std::shared_ptr<TracedRun> run_;
};

// Something that a device does while this object lives.
class WorkTracer {
 public:
  WorkTracer(const char* line, const char* what, const PJRT_Device* device, int64_t bytes)
      : line_(line), what_(what), device_(device), bytes_(bytes), begin_ns_(is_traced() ? clock_ns() : 0) {}
  WorkTracer(const WorkTracer&) = delete;
  WorkTracer& operator=(const WorkTracer&) = delete;
  ~WorkTracer() {
    if (begin_ns_ != 0) end();
  }
  std::string detail;  // follows the name

 private:
  void end();
  const char *line_, *what_;
  const PJRT_Device* device_;
  int64_t bytes_, begin_ns_;
};

// What a session recorded, as XProf shows it.
struct TraceContent {
  std::vector<std::shared_ptr<const TracedRun>> runs;
  std::vector<TracedWork> works;
  int64_t begin_ns = 0, end_ns = 0;
  int64_t most_events = 0, first_dropped_ns = 0;  // 0: all were recorded
};
std::vector<TracePlane> planes_of(const TraceContent& content);

}  // namespace armillary::pjrt
