// While a module is partitioned, two kinds of marks stand where values change between their whole and their
// tiles. Everything else computes the same on every device, on whole arrays or on the device's own tile.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "xla_core/passes/build.h"
#include "xla_core/spmd/mesh.h"

namespace armillary {

class Marks {
 public:
  explicit Marks(Module& m) : devices_(m.num_partitions) {}

  int64_t devices() const { return devices_; }

  // The whole array that the devices' tiles make up.
  Instruction* join(Build& b, Instruction* tile, const Sharding& s, Shape whole);
  // The device's tile of a whole array: what join() was given if it is one of these tiles. `s` divides it.
  Instruction* cut(Build& b, Instruction* whole, const Sharding& s);

  // The tiles of an instruction's operands; nothing if some cannot be cut so.
  std::optional<std::vector<Instruction*>> cut_operands(Build& b, const Instruction& i,
                                                        const std::vector<Sharding>& shardings);

  // What the devices' summands of their tiles make together.
  Instruction* combine(Build& b, Instruction* tile, const Sharding& s, Op op);

  // Cut as is said, and along the dimensions that are open as it comes.
  Instruction* leave_open(Build& b, Instruction* whole, MeshSharding said);

  // Stays whole on every device, because the program says so, or what works on tiles needs it so.
  Instruction* keep_whole(Build& b, Instruction* whole);
  // What one device holds, on all of them; arrays in a tuple likewise.
  Instruction* told_by(Build& b, Instruction* value, int64_t device);

  // The sharding of a mark, or nullptr.
  const Sharding* joined(const Instruction* i) const { return find(joins_, i); }
  const Sharding* is_cut(const Instruction* i) const { return find(cuts_, i); }
  bool is_whole(const Instruction* i) const { return wholes_.contains(i); }
  // Notes at joins who computes the same with their wholes on every device.
  void note_wholes(const Module& m);
  const MeshSharding* is_open(const Instruction* i) const {
    auto it = opens_.find(i);
    return it == opens_.end() ? nullptr : &it->second;
  }
  bool is_mark(const Instruction* i) const { return joined(i) || is_cut(i) || is_whole(i) || is_open(i); }
  // The summands that an instruction has added up, or nullptr.
  const Sharding* added_up(const Instruction* i) const { return find(sums_, i); }

 private:
  using Table = std::unordered_map<const Instruction*, Sharding>;
  static const Sharding* find(const Table& table, const Instruction* i) {
    auto it = table.find(i);
    return it == table.end() ? nullptr : &it->second;
  }

  int64_t devices_;
  Table joins_, cuts_, sums_;
  std::unordered_map<const Instruction*, MeshSharding> opens_;
  std::unordered_set<const Instruction*> wholes_;
};

// The key of frontend_attributes under which an all-gather names the ops that see all of an array which was
// there in tiles, and compute the same on every device.
inline constexpr std::string_view kComputedWhole = "computed_whole";

// Lets joins wait: op(join(x)) becomes join(op(x)) where the op works on each tile alone.
void sink_joins(Module& m, Marks& marks);

// Lets cuts come early: cut(op(x)) becomes op(cut(x)) where tiles of the operands are enough and nobody needs
// the whole. Returns whether it changed anything.
bool lift_cuts(Module& m, Marks& marks);

// Sums that are asked for as summands are not added: cut(sum(x)) = x, and cut(op(sum(x))) = op(x) where the
// op is linear. Returns whether it changed anything.
bool lift_sums(Module& m, Marks& marks);

// Loops carry tiles of the arrays that enter or leave them in tiles, where the body works on each tile alone.
// Returns whether it changed anything.
bool carry_tiles(Module& m, Marks& marks);

// The first number that no collective has.
int64_t next_channel(const Module& m);

// Writes the marks out: an all-gather, a dynamic-slice at an offset that depends on partition-id.
void lower_marks(Module& m, Marks& marks);

}  // namespace armillary
