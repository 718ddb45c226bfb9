// What compile leaves for the runtime: plain records, no algorithms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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

// Machine code of a kernel (see kernels/kernel.h) or a native function; args are the step's slices resolved
// to pointers.
using RangeFunction = void (*)(std::byte* const* buffers, int64_t begin, int64_t end);

struct Step {
  enum Kind : uint8_t { kKernel, kNative, kCopy, kWhile, kConditional, kCall } kind = kNative;
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

struct Program {
  std::vector<Step> steps;
  std::vector<Allocation> allocations;  // one kTemporary at most
  std::vector<Slice> parameters;        // per flattened parameter leaf
  std::vector<Slice> results;           // per flattened result leaf
  Shape result_shape;
  std::vector<Shape> parameter_shapes;
  std::vector<KernelReport> kernels;
  MemoryReport memory;
  std::shared_ptr<void> code;  // keeps the machine code alive
};

}  // namespace armillary
