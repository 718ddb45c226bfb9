// Matrix multiplication kernels for SSE2.
#include "xla_core/backends/cpu/native/gemm_kernels.h"

#define ARM_VECTOR_BYTES 16
#define ARM_TILE_ROWS 6
#define ARM_THIN_ROWS 4
#include "xla_core/backends/cpu/native/gemm_kernels.inc"

namespace armillary::native {
const GemmTable& gemm_table_baseline() { return kTable; }
}  // namespace armillary::native
