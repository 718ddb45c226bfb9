#include "xla_core/base/parallel_for.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace armillary {
namespace {

TEST(ParallelFor, visits_every_index_once) {
  for (int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    for (int64_t extent : {0, 1, 2, 7, 100, 12345}) {
      std::vector<std::atomic<int>> seen(extent);
      parallel_for(extent, 3, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) seen[i]++;
      });
      for (auto& s : seen) ASSERT_EQ(s.load(), 1);
    }
  }
}

TEST(ParallelFor, ranges_hold_at_least_grain_iterations) {
  set_num_threads(4);
  std::atomic<int> ranges{0};
  parallel_for(100, 60, [&](int64_t, int64_t) { ranges++; });
  EXPECT_EQ(ranges.load(), 1);
}

TEST(ParallelFor, carries_the_first_exception_to_the_caller) {
  set_num_threads(4);
  EXPECT_THROW(parallel_for(1000, 1, [](int64_t, int64_t) { throw std::runtime_error("x"); }),
               std::runtime_error);
  std::atomic<int64_t> sum{0};
  parallel_for(10, 1, [&](int64_t b, int64_t e) { sum += e - b; });
  EXPECT_EQ(sum.load(), 10);
}

TEST(ParallelFor, nested_calls_run_inline) {
  set_num_threads(4);
  std::atomic<int64_t> sum{0};
  parallel_for(64, 1, [&](int64_t begin, int64_t end) {
    const auto outer = std::this_thread::get_id();
    for (int64_t i = begin; i < end; ++i)
      parallel_for(64, 1, [&](int64_t b, int64_t e) {
        EXPECT_EQ(std::this_thread::get_id(), outer);
        sum += e - b;
      });
  });
  EXPECT_EQ(sum.load(), 64 * 64);
}

TEST(ParallelFor, many_threads_may_call_at_once) {
  set_num_threads(3);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 6; ++t)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round)
        parallel_for(100, 1, [&](int64_t b, int64_t e) { sum += e - b; });
    });
  for (auto& c : callers) c.join();
  EXPECT_EQ(sum.load(), 6 * 200 * 100);
}

TEST(ParallelFor, works_in_a_forked_child) {
  set_num_threads(3);
  parallel_for(100, 1, [](int64_t, int64_t) {});
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int64_t> sum{0};
    parallel_for(1000, 1, [&](int64_t b, int64_t e) { sum += e - b; });
    _exit(sum.load() == 1000 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace armillary
