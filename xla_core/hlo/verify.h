// The laws of a module: rows' numbered checks, shapes, order, use lists; and the stricter ones that hold from
// a stage on.
#pragma once

#include <span>
#include <string_view>

#include "xla_core/hlo/module.h"

namespace armillary {

enum class Stage : uint8_t {
  kParsed,       // ops known, inferred shapes = stated shapes
  kExpanded,     // ops whose meaning is `expand` are gone
  kPartitioned,  // no sharding left but on parameters and results
  kLaidOut,      // a layout in every shape; only copy changes a layout
  kFused,        // a fusion body has at most one contraction
  kScheduled,    // order is the schedule; every start has one done
};

std::string_view to_string(Stage stage);

// One numbered law: it holds from `from` on, and exactly one of the functions checks it.
struct Law {
  int number;
  Stage from;
  std::string_view text;
  void (*of_module)(const Module&) = nullptr;
  void (*of_computation)(const Computation&) = nullptr;
  void (*of_instruction)(const Instruction&) = nullptr;
};
std::span<const Law> laws();

// Throws the first broken law as Error{kUser} (stage kParsed) or Error{kInternal} (later stages) that blames
// the instruction.
void verify(const Module& module, Stage stage = Stage::kParsed);

}  // namespace armillary
