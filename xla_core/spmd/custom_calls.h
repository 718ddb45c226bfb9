// Functions that come with a partitioning rule of the user's own (jax.experimental.custom_partitioning):
// calls whose callee is the function itself, for where nobody asks the rule.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "xla_core/passes/pass.h"
#include "xla_core/spmd/marks.h"

namespace armillary {

inline constexpr std::string_view kCustomPartitioning = "CustomSPMDPartitioning";

// Asked while a program is partitioned. Shardings are HLO's text, of a tuple one for each leaf in braces.
class PartitioningRules {
 public:
  struct Call {
    std::string config;  // which rule it is
    std::vector<Shape> operands;
    std::vector<std::string> operand_shardings;
    Shape result;
  };
  struct Answer {
    std::unique_ptr<Module> program;  // of one device, on its tiles
    std::vector<std::string> operand_shardings;
    std::string result_sharding;
  };
  virtual ~PartitioningRules() = default;
  virtual Answer partition(const Call& call, const std::string& result_sharding) = 0;
  // How the result is cut: as the operands are, or as its user wants it.
  virtual std::string infer(const Call& call) = 0;
  virtual std::string propagate(const Call& call, const std::string& wanted) = 0;
};

// Programs that this thread compiles while it lives ask these rules.
class RulesInForce {
 public:
  explicit RulesInForce(PartitioningRules& rules);
  ~RulesInForce();
  RulesInForce(const RulesInForce&) = delete;
  RulesInForce& operator=(const RulesInForce&) = delete;

 private:
  PartitioningRules* before_;
};

class CustomCalls {
 public:
  CustomCalls(Module& m, Marks& marks, const PassContext& context)
      : m_(m), marks_(marks), context_(context) {}

  // Takes the functions out of the program, so that nobody works on them before it is known who is used.
  void take_bodies();
  // Asks the rules of calls that have operands in tiles, or, if `by_results`, whose results are wanted in
  // tiles.
  bool cut(bool by_results);
  // All that are left become their functions.
  bool use_bodies();

 private:
  Instruction* by_rule(Instruction* call, bool by_results);
  bool choose_shardings(const Instruction& call, bool by_results, PartitioningRules::Call& asked,
                        std::string& result) const;
  std::vector<std::optional<Sharding>> known_operands(const Instruction& call) const;
  std::vector<std::optional<Sharding>> wanted(const Instruction& call) const;
  Instruction* splice(Instruction* call, PartitioningRules::Answer answer,
                      const std::vector<Sharding>& wanted);
  Instruction* rejoin(Build& b, Instruction* tile, const Sharding& s, const Shape& whole,
                      const Sharding* wanted);

  Module& m_;
  Marks& marks_;
  const PassContext& context_;
  Module bodies_{"bodies"};
  std::map<std::string, Computation*> body_of_;     // by backend_config
  std::unordered_set<const Instruction*> refused_;  // what the rule says cannot be done here
};

// On one device, and in programs that are not partitioned.
bool replace_by_bodies(Module& m);

}  // namespace armillary
