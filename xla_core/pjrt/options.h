// The part of a CompileOptionsProto that we heed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "xla_core/base/flags.h"

namespace armillary::pjrt {

struct Options {
  int64_t replicas = 1, partitions = 1;
  std::vector<int64_t> devices;  // replica * partitions + partition -> id; empty: from 0 on
  bool spmd = false;
  // One for all, or one each; may the compiler choose this sharding?
  std::vector<bool> choose_parameter_shardings, choose_result_shardings;
  bool tupled_parameters = false;
  // Those of the environment, and what the program overrides: where it is dumped, which passes are left out.
  std::shared_ptr<const XlaFlags> xla_flags;  // nullptr: nothing
  int64_t num_devices() const { return replicas * partitions; }
};

Options read_options(std::string_view bytes);
std::string device_assignment_bytes(const Options& options);  // a DeviceAssignmentProto

}  // namespace armillary::pjrt
