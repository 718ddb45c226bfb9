// A kernel: a loop nest over typed buffers with a scalar program inside; what back ends turn into machine
// code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "xla_core/ops/tape.h"
#include "xla_core/shape/shape.h"

namespace armillary {

struct KernelBuffer {
  DType dtype = DType::kInvalid;  // HLO dtype; elements are byte_size(dtype) apart, row-major
  int64_t elements = 0;
  bool written = false;
  bool may_share = false;  // an input whose memory an output may have: it is read before, and only where,
                           // that output is written
  friend bool operator==(const KernelBuffer&, const KernelBuffer&) = default;
};

// The body is a Tape with control nodes. Machine code has the signature
//     void kernel(std::byte* const* buffers, int64_t begin, int64_t end)
// and runs the outermost loop, kIndex with imm 0, from begin to end; calls with disjoint ranges of [0,
// extent) may run at once.
//   kIndex 0                         the outermost loop's variable
//   kLoad  imm=buffer a=linear index part
//   kStore imm=buffer a=linear index b=value part
//   kLoopBegin imm=extent part       an inner loop; its value is the loop variable (s64), 0 .. extent-1; a >=
//   0: the extent is computed
//                                    (s64, >= 0) and imm only bounds it; part 1: a lane loop, see below
//   kCarry a=initial value           a value carried around the innermost open loop; stands right after its
//   kLoopBegin kLoopEnd a=the kLoopBegin        closes it; then, for each carry in order: kLoopResult a=the
//   kCarry b=next  `b` (computed inside the loop) is the carry's value in the next round; the node is the
//   value after the loop kIfBegin a=pred, kElse, kIfEnd   a branch; only stores, loads and loops inside; no
//   value leaves it
// A negative imm of kLoad and kStore names local memory: -1 is locals[0], -2 is locals[1], ...; it is private
// to one iteration of the outermost loop.
//
// A lane loop has no carries, its rounds are independent and may run at the same time, in vector lanes: no
// round reads what another one stores.
struct Kernel {
  std::string name;                   // for people: "fused_add_multiply"
  std::vector<KernelBuffer> buffers;  // others than may_share ones do not overlap what is written
  std::vector<KernelBuffer> locals;   // small scratch arrays
  Tape body;
  int64_t extent = 1;             // iterations of the outermost loop
  double work_per_iteration = 1;  // rough scalar operations per outermost iteration: how finely to split

  // Kernels with equal keys have the same machine code.
  std::string structural_key() const;
};

// The body as indented text, for dumps and tests.
std::string to_string(const Kernel& kernel);

}  // namespace armillary
