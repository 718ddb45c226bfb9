// Neighbours that pass on the same rows, products among them, become one loop over pieces of those rows: the
// matrix unit is at one piece while the vector unit is at another, and what is between them stays in VMEM.
//
// That is what a kernel written by hand does for attention (Dao et al., FlashAttention, 2022): scores,
// softmax and the product behind it, block by block.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "xla_core/backends/tpu/lower.h"
#include "xla_core/backends/tpu/product.h"
#include "xla_core/backends/tpu/rows.h"

namespace armillary::tpu {

class Chain {
 public:
  // `rows`: of all that is passed on. `budget`: bytes of VMEM.
  Chain(const sim::Chip& chip, const Places& places, int64_t budget, int64_t rows);

  // Whether it may work beside what is in the chain; then it does.
  bool add(const Lowered& link);
  // An instruction without commands; what it makes of a link's result is there when the chain has ended.
  void pass_by(const Instruction& i);
  // All links depend on each other, and some are products.
  bool is_whole() const;
  // One loop for all links, cut where it is fastest; nothing if no cut fits VMEM.
  std::optional<sim::Command> command() const;
  // Bytes that come from HBM.
  HbmReads reads() const;

 private:
  struct Link {
    const Lowered* lowered;
    Flows flows;
    std::optional<Product> product;  // on the matrix units
    int first = 0, last = 0;         // stages
    bool begins_at_matrix = false, ends_at_matrix = false;
    int part_of = 0;                        // links with the same number depend on each other
    std::vector<std::vector<int>> readers;  // of each leaf, links
    std::vector<bool> is_cut;               // of each operand from outside: comes row by row
  };
  // A leaf of a link.
  struct Source {
    int link = -1;
    size_t leaf = 0;
    Flow flow = Flow::kNothing;
  };

  Source source_of(const Instruction* operand) const;
  bool settle_flows(const Lowered& lowered, Link& link) const;
  void settle_stages(const std::vector<Source>& sources, Link& link) const;
  void join(int link, int other);
  bool is_read_outside(const Link& link, size_t leaf) const;
  bool may_cut(const Link& link, int64_t tiles) const;
  sim::FusedLoop loop(int64_t tiles) const;
  void add_matrix(const Link& link, int64_t tiles, sim::Tile& tile) const;
  void add_operands(const Link& link, int64_t tiles, sim::FusedLoop& loop) const;
  void add_results(const Link& link, int64_t tiles, sim::FusedLoop& loop) const;

  const sim::Chip& chip_;
  const Places& places_;
  int64_t budget_, rows_;
  std::vector<Link> links_;
  std::unordered_map<const Instruction*, int> number_;
  std::unordered_set<const Instruction*> late_;  // made of what links make, but by no link
};

// Merges what gains by it: the first of the merged gets the command, the others lose theirs and continue it.
void merge_chains(std::vector<Lowered>& lowered, const sim::Chip& chip, const Places& places, int64_t budget);

}  // namespace armillary::tpu
