#include "xla_core/pjrt/queue.h"

#include <pthread.h>

#include <new>
#include <set>

namespace armillary::pjrt {

// All of the process, for fork().
struct Queues {
  std::mutex mutex;
  std::set<Queue*> all;

  static Queues& get() {
    static Queues* const queues = [] {
      auto* q = new Queues;
      pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); },
                     [] {
                       get().mutex.unlock();
                       for (Queue* queue : get().all) queue->start_afresh();
                     });
      return q;
    }();
    return *queues;
  }
};

Queue::Queue() {
  std::lock_guard lock(Queues::get().mutex);
  Queues::get().all.insert(this);
}

Queue::~Queue() {
  {
    std::lock_guard lock(Queues::get().mutex);
    Queues::get().all.erase(this);
  }
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Queue::push(Task task) {
  {
    std::lock_guard lock(mutex_);
    pending_.fetch_add(1, std::memory_order_relaxed);
    tasks_.push_back(std::move(task));
    if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  }
  changed_.notify_all();
}

void Queue::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return is_idle(); });
}

// What is gone with the parent's threads may be locked or waited for: it is not destroyed, only left behind.
void Queue::start_afresh() {
  new (&mutex_) std::mutex;
  new (&changed_) std::condition_variable;
  new (&tasks_) std::deque<Task>;
  new (&thread_) std::thread;
  pending_ = 0;
}

void Queue::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closed_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    {
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }  // with all that the task held, before the lock is taken and the queue counts as idle
    lock.lock();
    if (pending_.fetch_sub(1, std::memory_order_release) == 1) changed_.notify_all();
  }
}

}  // namespace armillary::pjrt
