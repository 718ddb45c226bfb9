// Matrix multiplication kernels for AVX-512.
#include <immintrin.h>

#include "xla_core/backends/cpu/native/gemm_kernels.h"

#define ARM_VECTOR_BYTES 64
#define ARM_TILE_ROWS 8
#define ARM_THIN_ROWS 8
#define ARM_ADD_PRODUCTS(sum, a, b) sum + V(_mm512_madd_epi16(__m512i(a), __m512i(b)))
#include "xla_core/backends/cpu/native/gemm_kernels.inc"

namespace armillary::native {
const GemmTable& gemm_table_avx512() { return kTable; }
}  // namespace armillary::native
