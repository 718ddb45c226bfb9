// What compile leaves for the runtime: plain records, no algorithms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "xla_core/shape/literal.h"
#include "xla_core/shape/shape.h"

namespace armillary {

// Where bytes live: an allocation and a range in it.
struct Slice {
  int32_t allocation = -1;
  int64_t offset = 0;
  int64_t size = 0;
  friend bool operator==(const Slice&, const Slice&) = default;
};

struct Allocation {
  enum Kind : uint8_t { kParameter, kConstant, kResult, kTemporary } kind = kTemporary;
  int64_t size = 0;
  int64_t index = -1;  // kParameter: the number of the flattened leaf
  int64_t result =
      -1;  // kResult, or a kParameter that the program overwrites with this flattened result leaf
  bool written = false;  // kParameter: the program writes to it; it works on a copy unless the caller donates
                         // the argument
  Literal constant{};    // kConstant
};

// Where the devices that run one program side by side meet.
class Meeting {
 public:
  virtual ~Meeting() = default;
  // Called by every member with the same place and members (numbers of devices). Waits until all have come,
  // hands each the buffers that all brought, in the order of `members`, and returns when all are done with
  // them. Throws when a device failed, or when those that are left wait for each other.
  using Work = std::function<void(std::span<std::byte* const* const> buffers)>;
  virtual void meet(const void* place, std::span<const int64_t> members, int64_t device,
                    std::byte* const* buffers, const Work& work) = 0;
};

// What a step may know of the device it runs on.
struct DeviceContext {
  int64_t device = 0;          // replica * num_partitions + partition
  Meeting* meeting = nullptr;  // nullptr: there is no other device
  void* user = nullptr;        // of the caller of this run, for calls out of the program
};

// Machine code of a kernel (see kernels/kernel.h) or a native function; args are the step's slices resolved
// to pointers.
using RangeFunction = void (*)(std::byte* const* buffers, int64_t begin, int64_t end);

struct Step {
  enum Kind : uint8_t { kKernel, kNative, kDevice, kCopy, kWhile, kConditional, kCall } kind = kNative;
  std::string name;            // of the instruction, for profiles and errors
  std::string op_name;         // Python-side name from metadata
  std::vector<Slice> buffers;  // inputs, then outputs

  // kKernel
  int32_t kernel = -1;  // into the list that was compiled
  RangeFunction function = nullptr;
  int64_t extent = 1;
  int64_t grain = 1;  // least iterations worth a task
  // kNative; runs on the calling thread and may use the pool itself
  std::function<void(std::byte* const* buffers)> native;
  // kDevice: the same for what depends on the device, or needs the others
  std::function<void(std::byte* const* buffers, const DeviceContext&)> on_device;
  // kWhile: condition steps leave a pred in buffers[0]. kConditional: buffers[0] holds a pred (branch 0 when
  // true) or an s32 index (clamped).
  std::vector<std::vector<Step>> blocks;  // {condition, body} or the branches; kCall: {callee}
  bool predicate_is_index = false;
};

struct KernelReport {
  std::string name;
  int64_t code_bytes = 0;
  double compile_seconds = 0;
  int64_t uses = 0;  // steps that share the machine code
};

struct MemoryReport {
  int64_t argument_bytes = 0, output_bytes = 0, constant_bytes = 0, temporary_bytes = 0, alias_bytes = 0,
          code_bytes = 0;
  int64_t max_live_bytes = 0;  // lower bound for temporary_bytes given the schedule
};

namespace sim {
struct Program;  // tpu_sim/isa.h
}

struct HbmBuffer {
  int64_t bytes = 0;
  std::string kind;  // argument, constant, result, temporary
  std::string name, shape, op_name, source;
};

// Bytes of one device, layouts' padding included.
struct HbmReport {
  int64_t peak_bytes = 0, argument_bytes = 0, result_bytes = 0, temporary_bytes = 0;
  std::vector<HbmBuffer> largest;  // alive at the peak, largest first
};

// What a simulated machine is asked to do; the steps of the same program say what comes out.
struct Simulated {
  std::shared_ptr<const sim::Program> commands;
  HbmReport hbm;
  std::vector<std::string> notes;  // what was assumed, a sentence each
};

struct Program {
  int64_t replica_count = 1, num_partitions = 1;  // devices that run it side by side
  int64_t num_devices() const { return replica_count * num_partitions; }
  std::vector<Step> steps;
  std::vector<Allocation> allocations;  // one kTemporary at most
  std::vector<Slice> parameters;        // per flattened parameter leaf
  std::vector<Slice> results;           // per flattened result leaf
  Shape result_shape;
  std::vector<Shape> parameter_shapes;
  std::vector<KernelReport> kernels;
  MemoryReport memory;
  std::shared_ptr<const Simulated> simulated;  // of targets that are
  std::shared_ptr<void> code;                  // keeps the machine code alive
};

}  // namespace armillary
