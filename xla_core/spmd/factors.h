// Shardy's rules for ops that it does not know: `([i, j], [j, k])->([i, k]) {i=8, ...}` names what dimensions
// of operands and results have in common.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xla_core/spmd/sharding.h"

namespace armillary {

class Factors {
 public:
  // Throws a user error on a text that is none.
  explicit Factors(std::string_view text);

  // How arrays are cut of which some are known: each other follows, as far as its dimensions can. What comes
  // first wins.
  struct Cuts {
    std::vector<std::optional<Sharding>> operands, results;
  };
  // Nothing where the rule is about other numbers of arrays or dimensions.
  std::optional<Cuts> follow(Cuts known, int64_t devices) const;

 private:
  using Dimension = std::vector<std::string>;  // its factors, major first
  using Mapping = std::vector<Dimension>;
  struct Part {
    int64_t count;
    std::vector<int64_t> of_device;
  };
  using Parts = std::map<std::string, Part>;

  void take(const Mapping& mapping, const Sharding& s, Parts& parts) const;
  Sharding made_of(const Mapping& mapping, const Parts& parts, int64_t devices) const;

  std::vector<Mapping> operands_, results_;
  std::map<std::string, int64_t> sizes_;
  std::vector<std::string> whole_;  // need_replication
};

}  // namespace armillary
