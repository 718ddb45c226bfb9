// What one instruction or fusion has to move and to compute, read off the rows of what is in it.
#pragma once

#include <unordered_set>
#include <vector>

#include "tpu_sim/isa.h"
#include "xla_core/hlo/module.h"

namespace armillary::tpu {

struct BodyWork {
  sim::VectorWork vector = {};  // padded elements times what each costs
  sim::TransposeWork transpose;
  const Instruction* contraction = nullptr;  // in the body
  bool reduces = false;
  // Tiled bytes: of each operand what is needed of it, of each result leaf what is written.
  std::vector<int64_t> read, written;
};

// Elements are computed where somebody needs them: a slice of a product costs the slice. Each is computed
// once, however often it is read.
BodyWork body_work(const Instruction& instr);

// Tiled bytes of a result that are written: of an update in place only the update.
int64_t written_bytes(const Instruction& root);

// Which operands of the fusion an operand of its contraction is made from.
std::unordered_set<int64_t> sources_of(const Instruction& fusion, const Instruction& contraction, int64_t k);

// How an op without a scalar recipe keeps the vector and the transpose unit busy when `elements` of its
// result are computed.
void charge_structure(const Instruction& instr, double elements, BodyWork& work);

}  // namespace armillary::tpu
