#include "xla_core/pjrt/trace.h"

#include "xla_core/pjrt/executable.h"

namespace armillary::pjrt {

std::atomic<bool> trace_is_taken = false;

namespace {

// Never destroyed: threads of devices may outlive static objects.
struct Active {
  std::mutex mutex;
  std::shared_ptr<TraceSession> session;
};
Active& active() {
  static auto* one = new Active;
  return *one;
}

std::shared_ptr<TraceSession> active_session() {
  std::lock_guard lock(active().mutex);
  return active().session;
}

TracedDevice traced(const PJRT_Client& client, int64_t id) {
  return {client.topology.platform_name(), static_cast<int>(id)};
}

}  // namespace

TraceSession::TraceSession(int64_t most_events)
    : most_events_(most_events), begin_ns_(clock_ns()), room_(most_events) {}

bool TraceSession::has_room() {
  if (end_ns_.load(std::memory_order_acquire) != 0) return false;
  if (room_.fetch_sub(1, std::memory_order_relaxed) > 0) return true;
  int64_t none = 0;
  first_dropped_ns_.compare_exchange_strong(none, clock_ns());
  return false;
}

void TraceSession::add(std::shared_ptr<const TracedRun> run) {
  std::lock_guard lock(mutex_);
  runs_.push_back(std::move(run));
}

void TraceSession::add(TracedWork work) {
  std::lock_guard lock(mutex_);
  works_.push_back(std::move(work));
}

void TraceSession::close() { end_ns_.store(clock_ns(), std::memory_order_release); }

std::vector<TracePlane> TraceSession::take_planes() {
  TraceContent content{.begin_ns = begin_ns_,
                       .end_ns = end_ns_,
                       .most_events = most_events_,
                       .first_dropped_ns = first_dropped_ns_};
  {
    std::lock_guard lock(mutex_);
    content.runs.swap(runs_);
    content.works.swap(works_);
  }
  return planes_of(content);
}

std::shared_ptr<TraceSession> start_trace(int64_t most_events) {
  std::lock_guard lock(active().mutex);
  if (active().session) return nullptr;
  active().session = std::make_shared<TraceSession>(most_events);
  trace_is_taken.store(true, std::memory_order_relaxed);
  return active().session;
}

void stop_trace(const std::shared_ptr<TraceSession>& session) {
  std::lock_guard lock(active().mutex);
  if (!session || active().session != session) return;
  trace_is_taken.store(false, std::memory_order_relaxed);
  session->close();
  active().session = nullptr;
}

std::unique_ptr<RunTracer> RunTracer::begin(const PJRT_Client& client, std::shared_ptr<const Built> built,
                                            int64_t call) {
  std::shared_ptr<TraceSession> session = active_session();
  if (!session || !session->has_room()) return nullptr;
  static std::atomic<int64_t> runs = 0;
  auto run = std::make_shared<TracedRun>();
  const Options& options = built->options;
  for (int64_t d = 0; d < options.num_devices(); ++d)
    run->devices.push_back(std::make_unique<TracedRun::OnDevice>(
        traced(client, options.devices.empty() ? d : options.devices[d])));
  run->built = std::move(built);
  run->number = ++runs;
  run->call = call;
  run->begin_ns = clock_ns();
  session->add(run);
  auto tracer = std::make_unique<RunTracer>();
  tracer->session_ = std::move(session);
  tracer->run_ = std::move(run);
  return tracer;
}

RunTracer::~RunTracer() {
  if (run_) run_->end_ns = clock_ns();
}

void RunTracer::ended(int64_t device, const Step& step, int64_t begin_ns, int64_t end_ns) {
  if (!session_->has_room()) return;
  TracedRun::OnDevice& on = *run_->devices[device];
  std::lock_guard lock(on.mutex);
  on.spans.push_back({&step, begin_ns, end_ns});
}

void WorkTracer::end() {
  const int64_t end_ns = clock_ns();
  const std::shared_ptr<TraceSession> session = active_session();
  if (!session || !session->has_room()) return;
  session->add({traced(*device_->client, device_->description->id), line_,
                detail.empty() ? what_ : what_ + (" " + detail), begin_ns_, end_ns, bytes_});
}

}  // namespace armillary::pjrt
