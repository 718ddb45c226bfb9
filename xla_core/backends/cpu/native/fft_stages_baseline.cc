// Fourier transform stages for SSE2.
#include "xla_core/backends/cpu/native/fft_stages.h"

#include "xla_core/backends/cpu/native/fft_stages.inc"

namespace armillary::native {
const FftTable& fft_table_baseline() { return kTable; }
}  // namespace armillary::native
