#include "xla_core/runtime/device_threads.h"

#include <pthread.h>

#include <condition_variable>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace armillary {
namespace {

// Sleeps until it is given something to do. Lives until the process ends.
class Worker {
 public:
  Worker() {
    std::thread([this] { serve(); }).detach();
  }
  void start(std::function<void()> task) {
    std::lock_guard lock(mutex_);
    task_ = std::move(task);
    wake_.notify_one();
  }

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::function<void()> task_;
};

class Workers {
 public:
  Worker* take() {
    std::lock_guard lock(mutex_);
    if (idle_.empty()) return new Worker;  // detached threads use it for ever
    Worker* w = idle_.back();
    idle_.pop_back();
    return w;
  }
  void give_back(Worker* w) {
    std::lock_guard lock(mutex_);
    idle_.push_back(w);
  }
  // Threads do not survive fork().
  void forget() { idle_.clear(); }

 private:
  std::mutex mutex_;
  std::vector<Worker*> idle_;
};

Workers& workers() {
  static auto* all = [] {
    auto* w = new Workers;  // never destroyed: its threads outlive static objects
    pthread_atfork(nullptr, nullptr, [] { workers().forget(); });
    return w;
  }();
  return *all;
}

void Worker::serve() {
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return task_ != nullptr; });
      task = std::exchange(task_, nullptr);
    }
    task();
  }
}

}  // namespace

void run_side_by_side(int64_t count, const std::function<void(int64_t)>& body) {
  std::latch done(count - 1);
  for (int64_t d = 1; d < count; ++d) {
    Worker* w = workers().take();
    w->start([&body, &done, w, d] {
      body(d);
      workers().give_back(w);
      done.count_down();
    });
  }
  body(0);
  done.wait();
}

}  // namespace armillary
