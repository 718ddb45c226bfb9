#include "xla_core/runtime/runtime.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "xla_core/base/error.h"
#include "xla_core/base/parallel_for.h"
#include "xla_core/runtime/device_threads.h"
#include "xla_core/runtime/meeting.h"

namespace armillary {

namespace {

std::byte* aligned_bytes(int64_t bytes) {
  constexpr size_t kAlignment = 64;  // a cache line, and the widest vector register
  const size_t rounded =
      (static_cast<size_t>(std::max<int64_t>(bytes, 1)) + kAlignment - 1) / kAlignment * kAlignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
  if (memory == nullptr) throw resource_error("out of memory: cannot allocate {} bytes", rounded);
  return memory;
}

}  // namespace

namespace {

// Large blocks that went out of use, kept for the next call: fresh memory costs a page fault every 4 KiB,
// which is more than most programs do to it. Programs that run in a loop ask for the same sizes again.
class BlockCache {
 public:
  std::byte* take(int64_t bytes) {
    std::lock_guard lock(mutex_);
    auto it = idle_.find(bytes);
    if (it == idle_.end()) return nullptr;
    std::byte* block = it->second;
    idle_.erase(it);
    cached_ -= bytes;
    return block;
  }
  bool keep(std::byte* block, int64_t bytes) {
    std::lock_guard lock(mutex_);
    if (cached_ + bytes > kMostCached) return false;
    idle_.emplace(bytes, block);
    cached_ += bytes;
    return true;
  }

 private:
  static constexpr int64_t kMostCached = int64_t{512} << 20;  // assumed: what a process may hold idle
  std::mutex mutex_;
  std::unordered_multimap<int64_t, std::byte*> idle_;
  int64_t cached_ = 0;
};

BlockCache& block_cache() {
  static auto* cache = new BlockCache;  // never destroyed: results may outlive static objects
  return *cache;
}

constexpr int64_t kLeastCached = 1 << 17;  // below, malloc keeps its own free lists

}  // namespace

std::shared_ptr<void> allocate(int64_t bytes) {
  if (bytes < kLeastCached) return std::shared_ptr<void>(aligned_bytes(bytes), std::free);
  std::byte* block = block_cache().take(bytes);
  if (block == nullptr) block = aligned_bytes(bytes);
  return std::shared_ptr<void>(block, [bytes](void* p) {
    if (!block_cache().keep(static_cast<std::byte*>(p), bytes)) std::free(p);
  });
}

ArenaPool::~ArenaPool() {
  for (std::byte* arena : idle_) std::free(arena);
}

std::byte* ArenaPool::take(int64_t bytes) {
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::byte* arena = idle_.back();
      idle_.pop_back();
      return arena;
    }
  }
  return aligned_bytes(bytes);
}

void ArenaPool::give_back(std::byte* arena) {
  std::lock_guard lock(mutex_);
  idle_.push_back(arena);
}

namespace {

constexpr int64_t kCopyGrain =
    1 << 18;  // bytes worth a task; below, one core saturates its share of memory bandwidth anyway

void copy_bytes(std::byte* to, const std::byte* from, int64_t size) {
  if (to == from || size == 0) return;
  parallel_for(size, kCopyGrain, [&](int64_t begin, int64_t end) {
    std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
  });
}

// A call in flight: base addresses of the allocations.
class Call {
 public:
  Call(const Program& program, std::span<const Argument> arguments, ArenaPool& arenas,
       const DeviceContext& context = {}, StepObserver* observer = nullptr)
      : program_(program),
        arenas_(arenas),
        context_(context),
        observer_(observer),
        bases_(program.allocations.size()),
        owners_(program.allocations.size()) {
    for (size_t a = 0; a < bases_.size(); ++a) bind(a, arguments);
  }
  ~Call() {
    for (std::byte* arena : taken_) arenas_.give_back(arena);
  }

  void run(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      try {
        if (observer_ == nullptr)
          run(step);
        else
          run_observed(step);
      } catch (const Error& e) {
        if (!e.where().empty()) throw;
        throw Error(e.kind(), step.name,
                    e.message() + (step.op_name.empty() ? "" : "\n  from (" + step.op_name + ")"));
      }
    }
  }

  std::vector<Literal> results() {
    std::vector<Literal> out;
    const std::vector<const Shape*> leaves = leaves_of(program_.result_shape);
    for (size_t r = 0; r < program_.results.size(); ++r) {
      const Slice& slice = program_.results[r];
      if (slice.allocation < 0) {
        out.emplace_back(*leaves[r]);
        continue;
      }
      out.push_back(Literal::view(leaves[r]->without_layout(), address(slice), owners_[slice.allocation]));
    }
    return out;
  }

 private:
  void bind(size_t a, std::span<const Argument> arguments) {
    const Allocation& allocation = program_.allocations[a];
    switch (allocation.kind) {
      case Allocation::kParameter: {
        const Argument& argument = arguments[allocation.index];
        auto* data = const_cast<std::byte*>(argument.value.bytes());
        if (allocation.written && !argument.donated) {
          owners_[a] = allocate(allocation.size);
          bases_[a] = static_cast<std::byte*>(owners_[a].get());
          copy_bytes(bases_[a], data, allocation.size);
        } else {
          owners_[a] = argument.value.owner();
          bases_[a] = data;
        }
        break;
      }
      case Allocation::kConstant:
        bases_[a] = const_cast<std::byte*>(allocation.constant.bytes());
        break;
      case Allocation::kResult:
        owners_[a] = allocate(allocation.size);
        bases_[a] = static_cast<std::byte*>(owners_[a].get());
        break;
      case Allocation::kTemporary:
        if (allocation.size > 0) taken_.push_back(bases_[a] = arenas_.take(allocation.size));
        break;
    }
  }

  std::byte* address(const Slice& s) const {
    return s.allocation < 0 ? nullptr : bases_[s.allocation] + s.offset;
  }

  void run_observed(const Step& step) {
    const int64_t begin = clock_ns();
    run(step);
    observer_->ended(context_.device, step, begin, clock_ns());
  }

  void run(const Step& step) {
    switch (step.kind) {
      case Step::kKernel: {
        resolve(step);
        std::byte* const* buffers = addresses_.data();
        if (step.extent <= step.grain) return step.function(buffers, 0, step.extent);
        parallel_for(step.extent, step.grain,
                     [&](int64_t begin, int64_t end) { step.function(buffers, begin, end); });
        return;
      }
      case Step::kNative:
        return step.native(addresses(step).data());
      case Step::kDevice:
        return step.on_device(addresses(step).data(), context_);
      case Step::kCopy:
        return copy_bytes(address(step.buffers[1]), address(step.buffers[0]), step.buffers[0].size);
      case Step::kWhile:
        for (;;) {
          run(step.blocks[0]);
          if (*address(step.buffers[0]) == std::byte{0}) return;
          run(step.blocks[1]);
        }
      case Step::kConditional:
        return run(step.blocks[branch(step)]);
      case Step::kCall:
        return run(step.blocks[0]);
    }
  }

  // A list of its own: a native step may run steps.
  std::vector<std::byte*> addresses(const Step& step) const {
    std::vector<std::byte*> buffers;
    for (const Slice& s : step.buffers) buffers.push_back(address(s));
    return buffers;
  }

  size_t branch(const Step& step) const {
    const std::byte* selector = address(step.buffers[0]);
    if (!step.predicate_is_index) return *selector == std::byte{0} ? 1 : 0;
    int32_t index = 0;
    std::memcpy(&index, selector, sizeof index);
    const auto last = static_cast<int32_t>(step.blocks.size()) - 1;
    return static_cast<size_t>(index < 0 || index > last ? last : index);
  }

  void resolve(const Step& step) {
    addresses_.resize(step.buffers.size());
    for (size_t b = 0; b < step.buffers.size(); ++b) addresses_[b] = address(step.buffers[b]);
  }

  const Program& program_;
  ArenaPool& arenas_;
  const DeviceContext context_;
  StepObserver* observer_;
  std::vector<std::byte*> bases_;
  std::vector<std::shared_ptr<void>> owners_;
  std::vector<std::byte*> taken_;
  std::vector<std::byte*> addresses_;
};

}  // namespace

int64_t clock_ns() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::vector<Literal> run(const Program& program, std::span<const Argument> arguments, ArenaPool& arenas,
                         StepObserver* observer) {
  Call call(program, arguments, arenas, {}, observer);
  call.run(program.steps);
  return call.results();
}

std::vector<std::vector<Literal>> run_on_devices(const Program& program,
                                                 std::span<const std::vector<Argument>> arguments,
                                                 ArenaPool& arenas, void* user, StepObserver* observer) {
  const int64_t devices = program.num_devices();
  std::vector<std::vector<Literal>> results(devices);
  MeetingRoom room(devices);
  Meeting* meeting = devices > 1 ? &room : nullptr;
  run_side_by_side(devices, [&](int64_t d) {
    try {
      Call call(program, arguments[d], arenas, {.device = d, .meeting = meeting, .user = user}, observer);
      call.run(program.steps);
      results[d] = call.results();
      room.leave();
    } catch (...) {
      room.fail(std::current_exception());
    }
  });
  room.rethrow();
  return results;
}

}  // namespace armillary
