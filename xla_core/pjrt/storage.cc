#include "xla_core/pjrt/storage.h"

#include <algorithm>

namespace armillary::pjrt {
namespace {

std::atomic<int64_t> live_bytes = 0, peak_bytes = 0, arrays = 0, largest_bytes = 0;

void raise(std::atomic<int64_t>& maximum, int64_t value) {
  int64_t seen = maximum.load(std::memory_order_relaxed);
  while (seen < value && !maximum.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

// All filled storages, so that they can be listed.
std::mutex list_mutex;
Storage* list_head = nullptr;

int64_t bytes_of(const Literal& value) { return value.shape().is_array() ? value.size_bytes() : 0; }

}  // namespace

Storage::~Storage() {
  live_bytes.fetch_sub(bytes_of(value_), std::memory_order_relaxed);
  std::lock_guard lock(list_mutex);
  if (next_ != nullptr) next_->previous_ = previous_;
  if (previous_ != nullptr) previous_->next_ = next_;
  if (list_head == this) list_head = next_;
}

void Storage::fill(Literal value, std::shared_ptr<const std::string> origin) {
  value_ = std::move(value);
  origin_ = std::move(origin);
  {
    std::lock_guard lock(list_mutex);
    next_ = std::exchange(list_head, this);
    if (next_ != nullptr) next_->previous_ = this;
  }
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

std::string largest_arrays() {
  constexpr size_t kShown = 10;
  std::lock_guard lock(list_mutex);
  std::vector<const Storage*> all;
  for (const Storage* s = list_head; s != nullptr; s = s->next_) all.push_back(s);
  const size_t shown = std::min(all.size(), kShown);
  std::partial_sort(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shown), all.end(),
      [](const Storage* a, const Storage* b) { return bytes_of(a->value_) > bytes_of(b->value_); });
  std::string out = fmt::format("{} arrays of {:.1f} MB are alive; the largest:", all.size(),
                                static_cast<double>(live_bytes.load()) / 1e6);
  for (size_t i = 0; i < shown; ++i) {
    const Storage& s = *all[i];
    out += fmt::format("\n  {:10.1f} MB  {:<24} {}{}", static_cast<double>(bytes_of(s.value_)) / 1e6,
                       to_string(s.value_.shape()), s.origin_ ? "result of " + *s.origin_ : "from the host",
                       s.read_only ? ", in the host's own memory" : "");
  }
  return out;
}

StorageStatistics storage_statistics() {
  return {live_bytes.load(), peak_bytes.load(), arrays.load(), largest_bytes.load()};
}

}  // namespace armillary::pjrt
