// Which instructions of a computation go into which fusion, decided before anything is touched.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "xla_core/fusion/group.h"

namespace armillary {

// A step of the fused computation: a group, or one instruction that fuses with nothing.
struct Unit {
  Instruction* first = nullptr;  // the instruction, or the first root: what the unit is known by
  std::unique_ptr<Group> group;  // empty when not fusible
};

class FusionPlan {
 public:
  FusionPlan(Computation& computation, const PassContext& context);

  // Each producer joins its consumers where that saves a trip through memory and repeats no costly work.
  void fuse_producers();
  // Groups over one loop space that read the same values, or of which one feeds the other, become one with
  // several results.
  void merge_outputs();

  // In an order in which what a unit reads is computed by earlier units.
  const std::vector<Unit>& units() const { return units_; }
  // The results of a group that others read (or that are the computation's root), in the order of the
  // computation.
  std::vector<Instruction*> outputs_of(const Group& group) const;

 private:
  friend class OutputMerger;
  bool is_movable(const Instruction& i) const;
  bool is_read_elsewhere(const Instruction& i, const Group& group) const;
  bool copies_save_traffic(const Instruction& producer, size_t consumers) const;
  std::vector<Group*> consumers_of(const Instruction& producer, bool* all) const;
  bool absorb(Instruction* producer);
  void copy_where_free(Instruction* producer, const std::vector<Group*>& consumers);

  Computation& computation_;
  const PassContext& context_;
  std::unordered_map<const Instruction*, bool> pinned_;  // waits, or is waited for
  std::unordered_map<const Instruction*, std::vector<Group*>>
      groups_of_;  // the groups that hold an instruction
  std::vector<Unit> units_;
};

}  // namespace armillary
