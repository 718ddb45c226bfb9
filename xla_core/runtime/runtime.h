// Runs a Program on the cores of this machine.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "xla_core/program/program.h"

namespace armillary {

// Temporaries of finished calls, kept for the next ones; one pool per loaded program.
class ArenaPool {
 public:
  ArenaPool() = default;
  ArenaPool(const ArenaPool&) = delete;
  ArenaPool& operator=(const ArenaPool&) = delete;
  ~ArenaPool();
  std::byte* take(int64_t bytes);  // 64-byte aligned; every call of one pool asks for the same size
  void give_back(std::byte* arena);

 private:
  std::mutex mutex_;
  std::vector<std::byte*> idle_;
};

struct Argument {
  Literal value;         // array, row-major
  bool donated = false;  // the program may overwrite it and hand it back as a result
};

// Told of the steps of a run, by the threads of its devices; those of a loop at each trip, before the loop.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void ended(int64_t device, const Step& step, int64_t begin_ns, int64_t end_ns) = 0;
};
int64_t clock_ns();  // of the steps: since the Unix epoch

// One literal per flattened result leaf; empty literals for tokens. Arguments are checked by the caller
// (client/). Throws what a step throws, with the step's name as the place.
std::vector<Literal> run(const Program& program, std::span<const Argument> arguments, ArenaPool& arenas,
                         StepObserver* observer = nullptr);

// The same on every device of the program side by side: a list of arguments, and one of results, for each.
// The first device runs on the calling thread. When one fails, all end, and its error is thrown.
std::vector<std::vector<Literal>> run_on_devices(const Program& program,
                                                 std::span<const std::vector<Argument>> arguments,
                                                 ArenaPool& arenas, void* user = nullptr,
                                                 StepObserver* observer = nullptr);

// 64-byte aligned memory that frees itself; throws Error{kResource} when there is none.
std::shared_ptr<void> allocate(int64_t bytes);

}  // namespace armillary
