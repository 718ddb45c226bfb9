// Fourier transform stages for AVX-512.
#include "xla_core/backends/cpu/native/fft_stages.h"

#include "xla_core/backends/cpu/native/fft_stages.inc"

namespace armillary::native {
const FftTable& fft_table_avx512() { return kTable; }
}  // namespace armillary::native
