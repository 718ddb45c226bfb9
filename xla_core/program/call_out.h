// Code from outside that a program may call, by the target of its custom calls.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "xla_core/program/program.h"

namespace armillary {

// A call as the compiler sees it.
struct CallSite {
  std::string target;
  std::string config;                    // backend_config, as it is written
  std::string api_version;               // API_VERSION_TYPED_FFI, ...; empty for the oldest
  std::vector<Shape> operands, results;  // leaves, in the order of the buffers
};

using CallOut = std::function<void(std::byte* const* buffers, const DeviceContext&)>;
using CallOutMaker = std::function<CallOut(const CallSite&)>;  // an empty CallOut: not its target

// Asked in the order in which they were added, when a program is compiled.
void add_call_outs(CallOutMaker maker);
// Empty when nobody knows the target.
CallOut make_call_out(const CallSite& site);

}  // namespace armillary
