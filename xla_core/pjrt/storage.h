// The memory of one array on a device; shared by its buffers and by the work that will fill or read it.
#pragma once

#include <atomic>
#include <memory>

#include "xla_core/pjrt/event.h"
#include "xla_core/shape/literal.h"

namespace armillary::pjrt {

class Storage {
 public:
  Storage() = default;
  explicit Storage(Literal value) { fill(std::move(value)); }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage();

  void fill(Literal value);  // makes it ready
  void fail(FailurePtr failure) { ready.set(std::move(failure)); }
  const Literal& value() const { return value_; }  // of a ready one without failure
  const Literal& wait() const;                     // throws the failure

  Event ready;
  bool read_only = false;  // the memory is somebody else's

 private:
  Literal value_;
};
using StoragePtr = std::shared_ptr<Storage>;

// An event that lives in its storage.
inline std::shared_ptr<Event> ready_event(const StoragePtr& storage) { return {storage, &storage->ready}; }

struct StorageStatistics {
  int64_t bytes = 0, peak_bytes = 0, arrays = 0, largest_bytes = 0;
};
StorageStatistics storage_statistics();

}  // namespace armillary::pjrt
