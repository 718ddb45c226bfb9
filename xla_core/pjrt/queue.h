// The work of one device, in the order in which it was given. A forked child, which has none of its parent's
// threads, starts with empty queues.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace armillary::pjrt {

class Queue {
 public:
  using Task = std::function<void()>;  // must not throw

  Queue();
  ~Queue();  // after the last task
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  void push(Task task);
  // Nothing waits and nothing runs, as far as the caller can have given it.
  bool is_idle() const { return pending_.load(std::memory_order_acquire) == 0; }
  void drain();

 private:
  friend struct Queues;
  void serve();
  void start_afresh();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::atomic<int64_t> pending_ = 0;
  bool closed_ = false;
  std::thread thread_;  // started by the first task
};

}  // namespace armillary::pjrt
