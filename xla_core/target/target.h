// What differs between the machines we compile for: preferences, limits, costs and emit functions, never an
// `if (cuda)`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "xla_core/hlo/module.h"

namespace armillary {

struct Assignment;  // buffers/assign.h
struct Program;     // program/program.h

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
  void (*emit)(const Module&, const Assignment&, Program&) = nullptr;
  std::string_view unavailable = {};
};

}  // namespace armillary
