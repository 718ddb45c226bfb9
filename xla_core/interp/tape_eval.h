// Evaluates a tape, node by node, over blocks of lanes: what a recipe means, spelled out.
#pragma once

#include <span>
#include <vector>

#include "xla_core/interp/columns.h"
#include "xla_core/ops/tape.h"

namespace armillary {

// A recipe written down: nodes, and which of them are the results.
struct TapeProgram {
  Tape tape;
  std::vector<Val> results;
};

// One thread's registers for a program.
class TapeRunner {
 public:
  static constexpr int64_t kBlock = 512;  // lanes; a register is 4 KiB

  // `capacity`: the most lanes a run will have, at most kBlock.
  TapeRunner(const TapeProgram& program, int64_t capacity);

  // Computes lanes begin .. begin + count of an array of these dims. kArg reads element begin + k of
  // inputs[imm], kLoad any element of it; result r is written to elements begin + k of outputs[r].
  void run(std::span<const ArrayView> inputs, std::span<const int64_t> dims, int64_t begin, int64_t count,
           std::span<std::byte* const> outputs);

 private:
  Lane* reg(int32_t node) { return registers_.data() + node * capacity_; }
  void step(int32_t node, std::span<const ArrayView> inputs, std::span<const int64_t> dims, int64_t begin,
            int64_t count);

  const TapeProgram& program_;
  int64_t capacity_;
  std::vector<Lane> registers_;
};

// All elements of the results, on all threads. Inputs with one element stand for every lane of kArg.
std::vector<Literal> run_tape(const TapeProgram& program, std::span<const Literal> inputs, const Dims& dims);

// The primitives themselves. Operand lanes have dtype `from`, the result's lanes `node.dtype`.
void run_primitive(const TapeNode& node, DType from, const Lane* a, const Lane* b, const Lane* c,
                   int64_t count, Lane* out);
void run_float_primitive(const TapeNode& node, const Lane* a, const Lane* b, const Lane* c, int64_t count,
                         Lane* out);
void run_integer_primitive(const TapeNode& node, const Lane* a, const Lane* b, int64_t count, Lane* out);

}  // namespace armillary
