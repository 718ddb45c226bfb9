// Matrix multiplication kernels for AVX2+FMA.
#include <immintrin.h>

#include "xla_core/backends/cpu/native/gemm_kernels.h"

#define ARM_VECTOR_BYTES 32
#define ARM_TILE_ROWS 6
#define ARM_THIN_ROWS 4
#define ARM_ADD_PRODUCTS(sum, a, b) sum + V(_mm256_madd_epi16(__m256i(a), __m256i(b)))
#include "xla_core/backends/cpu/native/gemm_kernels.inc"

namespace armillary::native {
const GemmTable& gemm_table_avx2() { return kTable; }
}  // namespace armillary::native
