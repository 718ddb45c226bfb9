// Fourier transforms over the last dimensions of an array.
#pragma once

#include "xla_core/backends/cpu/native/array_ref.h"

namespace armillary::native {

enum class FftKind : uint8_t { kFft, kIfft, kRfft, kIrfft };

// Over the last lengths.size() dimensions; lengths are those of the real or complex signal. kFft, kIfft:
// complex to complex. kRfft: real to complex, lengths.back() / 2 + 1 values in the last dimension; kIrfft:
// the reverse, ignoring imaginary parts that a real signal cannot have. Backward transforms are divided by
// the number of points.
void fft(FftKind kind, const Dims& lengths, const ArrayRef& input, const ArrayRef& result);

}  // namespace armillary::native
