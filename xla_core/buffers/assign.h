// Gives every value of a module its bytes.
#pragma once

#include <unordered_map>
#include <vector>

#include "xla_core/buffers/values.h"
#include "xla_core/program/program.h"

namespace armillary {

// Where each leaf of each instruction lies, and the list of allocations they lie in.
struct Assignment {
  std::vector<Allocation> allocations;
  std::unordered_map<const Instruction*, std::vector<Slice>> slices;  // per leaf; allocation -1 for tokens
  std::vector<Slice> results;  // per leaf of the entry's root: where the caller finds it
  int64_t max_live_bytes = 0;  // of temporaries: no packing can need less
  const std::vector<Slice>& of(const Instruction* i) const { return slices.at(i); }
};

// The module is scheduled, has row-major layouts, and each control-flow computation has one caller.
Assignment assign_buffers(const Module& module, const Target& target);

inline constexpr int64_t kBufferAlignment = 64;  // one cache line, and the widest vector register

// Offsets for blocks that may overlap in memory only when their segments do not overlap in time; returns the
// total size.
struct Block {
  int64_t size = 0;
  std::vector<Segment> segments;  // sorted
  int64_t offset = 0;
};
int64_t pack_blocks(std::vector<Block>& blocks);
bool overlap(const std::vector<Segment>& a, const std::vector<Segment>& b);
int64_t max_live_bytes(const std::vector<Block>& blocks);

}  // namespace armillary
