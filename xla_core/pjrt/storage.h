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
  explicit Storage(Literal value) { fill(std::move(value), nullptr); }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage();

  // Makes it ready. `origin` says where the array comes from: the name of a program, or nullptr for the host.
  void fill(Literal value, std::shared_ptr<const std::string> origin);
  void fail(FailurePtr failure) { ready.set(std::move(failure)); }
  const Literal& value() const { return value_; }  // of a ready one without failure
  const Literal& wait() const;                     // throws the failure

  Event ready;
  bool read_only = false;  // the memory is somebody else's

 private:
  friend std::string largest_arrays();

  Literal value_;
  std::shared_ptr<const std::string> origin_;
  Storage *previous_ = nullptr, *next_ = nullptr;  // of all that are filled
};
using StoragePtr = std::shared_ptr<Storage>;

// An event that lives in its storage.
inline std::shared_ptr<Event> ready_event(const StoragePtr& storage) { return {storage, &storage->ready}; }

struct StorageStatistics {
  int64_t bytes = 0, peak_bytes = 0, arrays = 0, largest_bytes = 0;
};
StorageStatistics storage_statistics();

// The largest arrays alive, a line each, for those who have run out of memory.
std::string largest_arrays();

}  // namespace armillary::pjrt
