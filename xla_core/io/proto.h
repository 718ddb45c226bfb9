// HLO modules to and from the bytes that XLA and JAX exchange (HloModuleProto).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "xla_core/hlo/module.h"

namespace armillary {

// Reads a serialized HloModuleProto, or an HloProto dump around one. Throws Error{kUser} on anything
// malformed; the laws of the rows are left to verify().
std::unique_ptr<Module> from_proto(std::string_view bytes);

// A serialized HloModuleProto. Ids are given anew, so equal modules give equal bytes.
std::string to_proto(const Module& module);

}  // namespace armillary
