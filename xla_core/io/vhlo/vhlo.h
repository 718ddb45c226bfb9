// StableHLO portable artifacts (VHLO in MLIR bytecode, Shardy's operations among it) to HLO modules.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "xla_core/hlo/module.h"

namespace armillary {

// Throws Error{kUser} on malformed bytes, Error{kUnsupported} on versions that are not read and on operations
// or types that HLO does not have; the laws of the rows are left to verify().
std::unique_ptr<Module> from_stablehlo_artifact(std::span<const std::byte> bytes);

// The bytes begin as an artifact of a version that is read.
bool is_known_stablehlo_artifact(std::span<const std::byte> bytes);

}  // namespace armillary
