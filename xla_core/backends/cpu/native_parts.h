// Shared by the files that make native steps, one file a family of ops.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "xla_core/backends/cpu/native/array_ref.h"
#include "xla_core/backends/cpu/native/scatter.h"
#include "xla_core/backends/cpu/native_step.h"

namespace armillary::cpu {

// The arrays an instruction sees, without their memory: operand leaves in order, then result leaves.
class Arrays {
 public:
  explicit Arrays(const Instruction& i);
  size_t inputs() const { return inputs_; }
  size_t results() const { return arrays_.size() - inputs_; }
  const native::ArrayRef& input(size_t k) const { return arrays_[k]; }
  const native::ArrayRef& result(size_t k) const { return arrays_[inputs_ + k]; }
  // The same with their memory.
  std::vector<native::ArrayRef> bound(std::byte* const* buffers) const;
  std::span<const native::ArrayRef> all() const { return arrays_; }

 private:
  std::vector<native::ArrayRef> arrays_;
  size_t inputs_ = 0;
};

// A row per op that runs natively: on any device alike (make), or as one of several (make_on_device).
struct NativeRow {
  Op op;
  NativeFunction (*make)(const Instruction&, FunctionTable&) = nullptr;
  // nullptr: always. Else, when it cannot, *why says what is in the way.
  bool (*supported)(const Instruction&, std::string* why) = nullptr;
  // Works when the result leaf lies in the operand's buffer, and then overwrites it. nullptr: never.
  bool (*may_share)(const Instruction&, int64_t operand, int64_t leaf) = nullptr;
  DeviceFunction (*make_on_device)(const Instruction&, FunctionTable&) = nullptr;
};

std::span<const NativeRow> contraction_rows();  // dot, convolution
std::span<const NativeRow> ordering_rows();     // sort, topk
std::span<const NativeRow> scattering_rows();   // scatter, select-and-scatter
std::span<const NativeRow> numeric_rows();      // fft, cholesky, triangular-solve, random bits
std::span<const NativeRow> custom_call_rows();  // custom-call
std::span<const NativeRow> collective_rows();   // and the ids of replica and partition

// What a computation does with its parameters, when it is one of the combiners that native code knows.
native::Combiner combiner_of(const Computation& c);

// Machine code for a callee over scalars, by number in the table's pointers.
int add_scalar_function(const Computation& c, FunctionTable& functions);

}  // namespace armillary::cpu
