#include "xla_core/pjrt/storage.h"

namespace armillary::pjrt {
namespace {

std::atomic<int64_t> live_bytes = 0, peak_bytes = 0, arrays = 0, largest_bytes = 0;

void raise(std::atomic<int64_t>& maximum, int64_t value) {
  int64_t seen = maximum.load(std::memory_order_relaxed);
  while (seen < value && !maximum.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

int64_t bytes_of(const Literal& value) { return value.shape().is_array() ? value.size_bytes() : 0; }

}  // namespace

Storage::~Storage() { live_bytes.fetch_sub(bytes_of(value_), std::memory_order_relaxed); }

void Storage::fill(Literal value) {
  value_ = std::move(value);
  const int64_t bytes = bytes_of(value_);
  raise(peak_bytes, live_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes);
  raise(largest_bytes, bytes);
  arrays.fetch_add(1, std::memory_order_relaxed);
  ready.set();
}

const Literal& Storage::wait() const {
  ready.wait();
  if (ready.failure()) rethrow(ready.failure());
  return value_;
}

StorageStatistics storage_statistics() {
  return {live_bytes.load(), peak_bytes.load(), arrays.load(), largest_bytes.load()};
}

}  // namespace armillary::pjrt
