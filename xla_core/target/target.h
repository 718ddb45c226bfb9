// What differs between the machines we compile for: preferences, limits, costs and emit functions, never an
// `if (cuda)`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "xla_core/hlo/module.h"

namespace armillary {

struct Assignment;  // buffers/assign.h
struct Machine;  // of a target whose back end must know more than the target's name (backends/tpu/machine.h)
struct Program;  // program/program.h

// What the fusion pass may put into one body, besides what is computed one element at a time.
struct FusionPolicy {
  bool contractions = false;  // one dot or convolution, with elementwise work before and behind it
  bool gathers = true;
};

struct Target {
  std::string_view name;
  std::string_view doc;
  // Can code be made for this instruction (callees not counted)? If not, *why says what is in the way.
  bool (*can_run)(const Instruction&, std::string* why) = nullptr;
  // May the result's leaf live in the operand's buffer, when the operand is dead afterwards?
  bool (*may_share)(const Instruction&, int64_t operand, int64_t leaf) = nullptr;
  // Is the result's leaf the operand with a part overwritten, so that sharing saves a copy of the whole?
  bool (*updates_in_place)(const Instruction&, int64_t operand, int64_t leaf) = nullptr;
  // Machine code and steps. nullptr: the target is listed, but `unavailable` says why it cannot be used here.
  void (*emit)(const Module&, const Assignment&, const Machine*, Program&) = nullptr;
  std::string_view unavailable = {};
  FusionPolicy fusion = {};
  std::string_view before_fusion = {};  // passes that this target wants then
  // A simulated machine says when things happen. What they give, this target's program computes.
  std::string_view values_from = {};
  // Bytes of an array in this machine's memory; nullptr: as Shape::byte_size says.
  int64_t (*stored_bytes)(const Shape&) = nullptr;
  // Seconds that an instruction keeps the core busy; of an async-start, how long what it starts takes beside
  // it. nullptr: unknown, and collectives are not split.
  std::function<double(const Instruction&)> (*costs)(const Machine*) = nullptr;
  int64_t (*memory_limit)(const Machine*) = nullptr;  // bytes for temporaries and all else
};

}  // namespace armillary
