// Elements from one dtype to another, for the places where an operation must widen its operands or narrow its
// result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "xla_core/backends/cpu/native/array_ref.h"

namespace armillary::native {

// Reads n elements as To: float, double, uint32_t, uint64_t (integers wrap), std::complex<float>,
// std::complex<double>.
template <class To>
void widen(DType from, const std::byte* source, int64_t n, To* out);

// Writes n accumulator values as `to`, with HLO's rounding: nearest even; float to integer saturates;
// integers wrap; pred is "not zero".
template <class From>
void narrow(const From* source, int64_t n, DType to, std::byte* out);

// The array as one of the accumulator dtypes (f32, f64, u32, u64, c64, c128), in memory that `storage` owns;
// itself when it already is.
ArrayRef converted(const ArrayRef& array, DType to, std::unique_ptr<std::byte[]>& storage);

}  // namespace armillary::native
