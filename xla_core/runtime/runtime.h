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

// One literal per flattened result leaf; empty literals for tokens. Arguments are checked by the caller
// (client/). Throws what a step throws, with the step's name as the place.
std::vector<Literal> run(const Program& program, std::span<const Argument> arguments, ArenaPool& arenas);

// The same on every device of the program side by side: a list of arguments, and one of results, for each.
// The first device runs on the calling thread. When one fails, all end, and its error is thrown.
std::vector<std::vector<Literal>> run_on_devices(const Program& program,
                                                 std::span<const std::vector<Argument>> arguments,
                                                 ArenaPool& arenas, void* user = nullptr);

// 64-byte aligned memory that frees itself; throws Error{kResource} when there is none.
std::shared_ptr<void> allocate(int64_t bytes);

}  // namespace armillary
