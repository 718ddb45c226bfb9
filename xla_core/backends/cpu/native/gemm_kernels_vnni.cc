// Multiplication of pairs for AVX-512 with VNNI: one instruction multiplies them and adds to the sum.
#include <immintrin.h>

#include "xla_core/backends/cpu/native/gemm_kernels.h"

#define ARM_VECTOR_BYTES 64
#define ARM_TILE_ROWS 8
#define ARM_THIN_ROWS 8
#define ARM_ADD_PRODUCTS(sum, a, b) _mm512_dpwssd_epi32(__m512i(sum), __m512i(a), __m512i(b))
#include "xla_core/backends/cpu/native/gemm_kernels.inc"

namespace armillary::native {
const GemmKernels<uint32_t>& gemm_pairs_vnni() { return kPairs; }
}  // namespace armillary::native
