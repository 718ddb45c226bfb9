// Memory that a thread keeps between calls, so that kernels do not ask the system for pages again and again.
#pragma once

#include <cstddef>
#include <cstdint>

namespace armillary::native {

// At least `bytes` bytes, aligned to 64, whose content is arbitrary; valid until the same thread asks for the
// same slot again. Slots keep what they have grown to: keep requests within a few MiB.
std::byte* thread_scratch(int slot, int64_t bytes);
inline constexpr int kScratchSlots = 3;

template <class T>
T* thread_scratch_of(int slot, int64_t count) {
  return reinterpret_cast<T*>(thread_scratch(slot, count * static_cast<int64_t>(sizeof(T))));
}

}  // namespace armillary::native
