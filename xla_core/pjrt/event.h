// Something that will have happened: set once, with or without a failure.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "xla_core/pjrt/entry.h"

namespace armillary::pjrt {

class Event {
 public:
  using Callback = std::function<void(const FailurePtr&)>;

  bool is_ready() const { return ready_.load(std::memory_order_acquire) != 0; }
  void wait() const { ready_.wait(0, std::memory_order_acquire); }
  const FailurePtr& failure() const { return failure_; }  // of a ready one

  // Calls back on this thread, with no lock held. The first call counts.
  void set(FailurePtr failure = nullptr);
  // On the thread that sets the event; at once when it is ready.
  void on_ready(Callback callback);

 private:
  std::atomic<int> ready_ = 0;
  std::mutex mutex_;
  bool taken_ = false;
  FailurePtr failure_;
  std::vector<Callback> callbacks_;
};

}  // namespace armillary::pjrt

// nullptr: what happened long ago.
struct PJRT_Event {
  std::shared_ptr<armillary::pjrt::Event> event;
};
