#include "xla_core/backends/cpu/native/scratch.h"

#include <algorithm>
#include <memory>
#include <new>

namespace armillary::native {
namespace {

constexpr std::align_val_t kAlignment{64};

struct Slot {
  std::byte* data = nullptr;
  int64_t size = 0;
  ~Slot() { operator delete(data, kAlignment); }
};

}  // namespace

std::byte* thread_scratch(int slot, int64_t bytes) {
  thread_local Slot slots[kScratchSlots];
  Slot& s = slots[slot];
  if (s.size < bytes) {
    operator delete(s.data, kAlignment);
    s.data = nullptr;
    s.size = 0;
    s.data = static_cast<std::byte*>(operator new(bytes, kAlignment));
    s.size = bytes;
  }
  return s.data;
}

}  // namespace armillary::native
