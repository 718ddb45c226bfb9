// Inside the interpreter: custom calls by the name of their target.
#pragma once

#include <string_view>

#include "xla_core/interp/evaluation.h"

namespace armillary {

using CustomCall = Literal (*)(const Instruction&, Operands);
struct CustomCallRow {
  std::string_view target;
  CustomCall call;
};

// lapack_{s,d,c,z}NAME_ffi are listed by NAME; the type is the operand's.
std::span<const CustomCallRow> lapack_factorizations();  // solves, LU, QR, Cholesky
std::span<const CustomCallRow> lapack_decompositions();  // eigenvalues, singular values, Schur

// A number in backend_config={uplo = 76 : ui8}, by its name.
int64_t config_number(const Instruction& i, std::string_view name, int64_t fallback);

}  // namespace armillary
