// Fourier transform stages for AVX2+FMA.
#include "xla_core/backends/cpu/native/fft_stages.h"

#include "xla_core/backends/cpu/native/fft_stages.inc"

namespace armillary::native {
const FftTable& fft_table_avx2() { return kTable; }
}  // namespace armillary::native
