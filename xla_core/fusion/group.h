// A fusion in the making: which instructions it computes, in which index spaces, and what it reads.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "xla_core/hlo/module.h"
#include "xla_core/passes/pass.h"

namespace armillary {

// What two groups must have in common to share one loop.
struct LoopSpace {
  Dims result = {};                  // of the roots, without ones; of the update in an update in place
  bool updates = false;              // in place
  std::optional<Dims> operand = {};  // of the reduces, when there are any
  Dims reduced = {};                 // their dimensions
  friend bool operator==(const LoopSpace&, const LoopSpace&) = default;
  int64_t elements() const;  // iterations
};

// Members are added users first. The law the limits keep: no member is evaluated more often than it has
// elements, unless it is cheap; and the body stays small, so that a program grows linearly at most.
class Group {
 public:
  Group(Instruction* root, const PassOptions& limits);

  // Adds another root that is computed in the same loop; false when it does not fit.
  bool try_add_root(Instruction* root);
  // Adds a producer all of whose users in the group are there already. `copied`: it also lives elsewhere.
  // False: it does not fit.
  bool try_add(Instruction* producer, bool copied);
  bool can_add(const Instruction& producer, bool copied) const;

  bool contains(const Instruction* i) const { return members_.contains(i); }
  const std::vector<Instruction*>& order() const { return order_; }  // users first
  const std::vector<Instruction*>& roots() const { return roots_; }
  const std::unordered_set<Instruction*>& inputs() const { return inputs_; }  // what it reads
  bool is_copy(const Instruction* i) const { return members_.at(i).copied; }
  int64_t size() const { return static_cast<int64_t>(order_.size()); }
  const LoopSpace& loop() const { return loop_; }
  // Read only at the index at which the roots are written.
  bool reads_at_root_index(const Instruction& input) const;
  // Has more in it than its root and constants.
  bool is_worth_a_fusion() const;

 private:
  // An index space in which members are evaluated: the roots' own, or that of an operand of `via` seen from
  // `parent`.
  struct Space {
    int parent;
    const Instruction* via;
    int64_t operand;
    double evaluations;
  };
  struct Member {
    std::vector<int> spaces;
    bool copied;
    bool recomputed;
  };

  std::vector<int> spaces_of(const Instruction& producer, std::vector<Space>& added) const;
  int space_behind(int parent, const Instruction& user, int64_t operand, std::vector<Space>& added) const;
  bool keeps_update_in_place(const Instruction& producer, const std::vector<int>& spaces) const;
  bool windows_overlap(const Instruction& producer, const std::vector<int>& spaces,
                       const std::vector<Space>& added) const;
  bool is_recomputed(const Instruction& producer, const std::vector<int>& spaces,
                     const std::vector<Space>& added) const;
  const Space& space(int number, const std::vector<Space>& added) const;
  bool fits_reduces(const Instruction& reduce) const;
  bool fits_contraction(const Instruction& producer, bool copied, const std::vector<int>& spaces,
                        const std::vector<Space>& added) const;
  void insert(Instruction* i, Member member);

  // What a dynamic-update-slice at the root may take along.
  enum class Update : uint8_t {
    kNone,     // the root is none
    kInPlace,  // what reads its operand only where it writes
    kApart,    // nothing: the update needs the operand elsewhere, and must be complete before it is written
               // over
  };
  static Update kind_of_update(const Instruction& root, const PassOptions& limits);

  const PassOptions* limits_;
  Update update_;
  LoopSpace loop_;
  std::vector<Instruction*> order_, roots_;
  std::unordered_map<const Instruction*, Member> members_;
  std::unordered_set<Instruction*> inputs_;
  std::vector<Space> spaces_;
  const Instruction* contraction_ = nullptr;
  int64_t copies_ = 0, recomputed_ = 0, emitted_ = 0;
};

}  // namespace armillary
