// The custom calls that JAX emits for its own linear algebra on the CPU: LAPACK by another name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "xla_core/backends/cpu/native/array_ref.h"

namespace armillary::native {

// Whether run_custom_call can run this target now; if not and it is one of ours, *why says what is missing.
bool knows_custom_call(std::string_view target, std::string* why = nullptr);

// Runs `target` ("lapack_spotrf_ffi", ...) with the attributes written in backend_config ("{uplo = 76 :
// ui8}"). Arrays are row-major in logical order, whatever layouts the call asks XLA for. Results may share
// memory with the operands that the call aliases them to. False, with *error set, when the target is unknown
// or there is no LAPACK; throws a user error when operands, results or attributes do not fit the target.
bool run_custom_call(std::string_view target, const std::string& backend_config,
                     std::span<const ArrayRef> operands, std::span<const ArrayRef> results,
                     std::string* error);

}  // namespace armillary::native
