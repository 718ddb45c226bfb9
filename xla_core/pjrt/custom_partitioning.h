// Partitioning rules of the user's own, asked across PJRT, or answered again as they were before.
#pragma once

#include <string>
#include <vector>

#include "xla_core/spmd/custom_calls.h"

namespace armillary::pjrt {

// A serialized program has its rules' answers with it: the functions that gave them are gone where it is
// read.
class AskedRules : public PartitioningRules {
 public:
  // `given`: answers from before, in order, in place of rules; `answers` gets those that are used.
  AskedRules(std::vector<std::string> given, std::vector<std::string>& answers)
      : given_(std::move(given)), answers_(answers) {}

  Answer partition(const Call& call, const std::string& result_sharding) override;
  std::string infer(const Call& call) override;
  std::string propagate(const Call& call, const std::string& wanted) override;

 private:
  template <class Ask>
  std::string answer(Ask ask);

  std::vector<std::string> given_;
  std::vector<std::string>& answers_;
  size_t next_ = 0;
};

}  // namespace armillary::pjrt
