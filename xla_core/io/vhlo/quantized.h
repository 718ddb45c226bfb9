// Quantized values are arrays of the integers they are stored as; what is computed with them is computed with
// the floats they stand for.
#pragma once

#include "xla_core/io/vhlo/op_import.h"

namespace armillary::vhlo {

// The floats that integers stand for, and back, in instructions of `at`.
Instruction* dequantize(OpImport& at, Instruction* x, const Quantization& q);
Instruction* quantize(OpImport& at, Instruction* x, const Quantization& q);

// The row's function looks at floats where the operation has quantized operands and results; integers that
// are only moved stay what they are.
void import_row(Importer& importer, Operation& op, Computation& into);

}  // namespace armillary::vhlo
