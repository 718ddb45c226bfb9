// The generators of rng-bit-generator: counter-based (Salmon et al., "Parallel random numbers: as easy as 1,
// 2, 3", 2011), so that any part of the output can be made by any thread.
#pragma once

#include "xla_core/backends/cpu/native/array_ref.h"

namespace armillary::native {

enum class RngAlgorithm : uint8_t { kThreeFry, kPhilox };

// state holds 64-bit words, in whatever integer dtype: the key, then the counter (one word for ThreeFry, one
// or two for Philox). new_state is the state moved on; it may be state's own memory. bits has any integer
// dtype of 8 to 64 bits; dtypes below 32 bits take the low bits of a word. Numbers and states are XLA's.
void rng_bit_generator(RngAlgorithm algorithm, const ArrayRef& state, const ArrayRef& new_state,
                       const ArrayRef& bits);

// Philox-4x32-10 of the counters first, first + 1, ...: four words each, into out[4 * count].
void philox_blocks(uint64_t key, unsigned __int128 first, int64_t count, uint32_t* out);

}  // namespace armillary::native
