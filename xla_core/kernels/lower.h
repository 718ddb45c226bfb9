// From one instruction, usually a fusion, to the kernels that compute it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "xla_core/hlo/instruction.h"
#include "xla_core/kernels/kernel.h"

namespace armillary::kernels {

// What a kernel's buffer is bound to.
struct BufferRef {
  enum Kind : uint8_t {
    kOperand,   // index: operand of the instruction
    kResult,    // index: leaf of the instruction's result
    kConstant,  // index: into Lowering::constants
    kScratch,  // index: into Lowering::scratch_bytes; lives from the first to the last kernel of the lowering
  } kind = kOperand;
  int64_t index = 0;
  friend bool operator==(const BufferRef&, const BufferRef&) = default;
};

struct LoweredKernel {
  Kernel kernel;
  std::vector<BufferRef> buffers;  // as many as kernel.buffers
};

// Kernels to run one after the other. A scalar constant is in the code; the others are memory that the caller
// binds.
struct Lowering {
  std::vector<LoweredKernel> kernels;
  std::vector<std::shared_ptr<const Literal>> constants;
  std::vector<int64_t> scratch_bytes;
};

// Whether lower_fusion takes this instruction; if not, *why says what is in the way.
// A fusion's body may hold elementwise ops, index ops (broadcast, transpose, slice, pad, gather, ...), map,
// reduce, reduce-window, constants, and a tuple or dynamic-update-slice as the root. A single instruction of
// these kinds is taken too.
bool can_lower(const Instruction& instr, std::string* why = nullptr);
Lowering lower_fusion(const Instruction& instr);

// The leaf of the result that is operand `in_place_operand` with a part overwritten: the kernels store that
// part only, so before they run the result's buffer must hold the operand's value (best: it is the operand's
// buffer). nullopt: the kernels write the whole leaf.
std::optional<int64_t> in_place_operand(const Instruction& instr, int64_t leaf = 0);
bool updates_in_place(const Instruction& instr);  // some leaf does

// Whether the result's leaf may live in the operand's buffer when the operand is dead afterwards: each
// element of the operand is read only by the iteration that writes the same bytes of the leaf.
bool may_share(const Instruction& instr, int64_t operand, int64_t leaf = 0);

// A comparator, a scatter combiner and the like: buffers are the parameters (one element each), then the
// result's leaves; extent 1.
Kernel lower_scalar_computation(const Computation& computation);
bool can_lower_scalar(const Computation& computation, std::string* why = nullptr);

}  // namespace armillary::kernels
