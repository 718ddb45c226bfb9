// Matrix multiplication kernels for SSE2.
#include <immintrin.h>

#include "xla_core/backends/cpu/native/gemm_kernels.h"

#define ARM_VECTOR_BYTES 16
#define ARM_TILE_ROWS 6
#define ARM_THIN_ROWS 4
#define ARM_ADD_PRODUCTS(sum, a, b) sum + V(_mm_madd_epi16(__m128i(a), __m128i(b)))
#include "xla_core/backends/cpu/native/gemm_kernels.inc"

namespace armillary::native {
const GemmTable& gemm_table_baseline() { return kTable; }
}  // namespace armillary::native
