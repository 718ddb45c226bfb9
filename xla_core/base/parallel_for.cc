// The thread pool behind parallel_for: workers sleep between jobs, the caller works too, and nothing is
// joined at process exit.
#include "xla_core/base/parallel_for.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "xla_core/base/flags.h"

namespace armillary {
namespace {

// Chunks per thread: enough that a late thread does not hold up the rest, few enough that claiming one costs
// nothing.
constexpr int64_t kChunksPerThread = 4;
// A worker looks this often for the next job before it sleeps: programs come as bursts of short kernels.
constexpr int kSpins = 1000;

thread_local bool t_inside = false;  // this thread runs a body now: nested calls go inline

void pause_cpu() { __builtin_ia32_pause(); }

struct Job {
  const std::function<void(int64_t, int64_t)>* body;
  int64_t extent;
  int64_t chunk;
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;

  // Takes chunks until none is left. The first exception stops the job and is kept.
  void work() {
    t_inside = true;
    while (!failed.load(std::memory_order_relaxed)) {
      const int64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= extent) break;
      try {
        (*body)(begin, std::min(extent, begin + chunk));
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
      }
    }
    t_inside = false;
  }
};

class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { serve(); });
  }

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  // False when another thread's job has the pool: the caller then runs its loop alone, which can never
  // deadlock.
  bool try_run(Job& job) {
    std::unique_lock<std::mutex> owner(owner_, std::try_to_lock);
    if (!owner.owns_lock()) return false;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      job_ = &job;
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    job.work();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      job_ = nullptr;  // whoever wakes up from now on finds nothing
    }
    for (int i = 0; i < kSpins && active_.load(std::memory_order_acquire) != 0; ++i) pause_cpu();
    std::unique_lock<std::mutex> lock(mutex_);
    left_.wait(lock, [this] { return active_.load() == 0; });
    return true;
  }

  // Ends the workers; the object itself is leaked, since another thread may still hold a pointer to it.
  void stop() {
    std::lock_guard<std::mutex> owner(owner_);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
      generation_.fetch_add(1);
    }
    wake_.notify_all();
    for (std::thread& t : workers_) t.join();
    workers_.clear();
  }

 private:
  void serve() {
    uint64_t seen = 0;
    while (true) {
      for (int i = 0; i < kSpins && generation_.load(std::memory_order_acquire) == seen; ++i) pause_cpu();
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [&] { return generation_.load() != seen; });
      seen = generation_.load();
      if (stopping_) return;
      Job* job = job_;
      if (job == nullptr) continue;
      active_.fetch_add(1);
      lock.unlock();
      job->work();
      lock.lock();
      if (active_.fetch_sub(1) == 1) left_.notify_all();
    }
  }

  std::mutex owner_;  // held by the thread whose job runs
  std::mutex mutex_;
  std::condition_variable wake_, left_;
  std::atomic<uint64_t> generation_{0};
  std::atomic<int> active_{0};
  Job* job_ = nullptr;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

// Leaked on purpose: static destructors never meet a running worker.
struct State {
  std::mutex mutex;
  std::atomic<Pool*> pool{nullptr};
  std::atomic<int> threads{0};  // 0: not decided yet
};
State& state() {
  alignas(State) static unsigned char storage[sizeof(State)];
  // A forked child has none of the parent's threads, and its locks may be held by threads that are gone: it
  // starts afresh, with the same count.
  static State* const instance = [] {
    State* s = new (storage) State;
    pthread_atfork(nullptr, nullptr, [] {
      const int threads = reinterpret_cast<State*>(storage)->threads.load();
      (new (storage) State)->threads = threads;
    });
    return s;
  }();
  return *instance;
}

constexpr int64_t kMaxThreads = 1024;

int default_threads() {
  if (flags().threads > 0) return static_cast<int>(std::min(flags().threads, kMaxThreads));
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

Pool* pool() {
  State& s = state();
  if (Pool* p = s.pool.load(std::memory_order_acquire)) return p;
  std::lock_guard<std::mutex> lock(s.mutex);
  if (s.pool.load() == nullptr) s.pool.store(new Pool(num_threads()), std::memory_order_release);
  return s.pool.load();
}

}  // namespace

int num_threads() {
  State& s = state();
  if (s.threads.load(std::memory_order_relaxed) == 0) s.threads = default_threads();
  return s.threads.load(std::memory_order_relaxed);
}

void set_num_threads(int n) {
  State& s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  s.threads = std::max(1, n);
  if (Pool* old = s.pool.exchange(nullptr)) old->stop();
}

void parallel_for(int64_t extent, int64_t grain,
                  const std::function<void(int64_t begin, int64_t end)>& body) {
  if (extent <= 0) return;
  grain = std::max<int64_t>(1, grain);
  const int64_t chunks = std::min(extent / grain, num_threads() * kChunksPerThread);
  if (t_inside || chunks <= 1 || num_threads() == 1) return body(0, extent);
  Job job{.body = &body, .extent = extent, .chunk = (extent + chunks - 1) / chunks};
  if (!pool()->try_run(job)) return body(0, extent);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace armillary
