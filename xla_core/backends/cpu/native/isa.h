// Which instruction set the ahead-of-time kernels use on this machine.
#pragma once

#include <cstdint>

namespace armillary::native {

enum class Isa : uint8_t { kBaseline, kAvx2, kAvx512 };

// The best this machine has; ARMILLARY_ISA=baseline|avx2 asks for less, for tests.
Isa best_isa();
// AVX-512 with instructions for dot products of narrow integers.
bool has_vnni();

}  // namespace armillary::native
