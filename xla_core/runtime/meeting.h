// Devices are threads that meet in memory.
#pragma once

#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <vector>

#include "xla_core/program/program.h"

namespace armillary {

// The meetings of one run of a program. A device that fails, or that leaves while others wait for it, ends
// the wait of all.
class MeetingRoom : public Meeting {
 public:
  explicit MeetingRoom(int64_t devices) : inside_(devices) {}

  void meet(const void* place, std::span<const int64_t> members, int64_t device, std::byte* const* buffers,
            const Work& work) override;
  void leave();                         // a device came to the end of its program
  void fail(std::exception_ptr error);  // a device came to a bad end
  void rethrow() const;                 // the first failure

 private:
  struct Table {
    std::vector<std::byte* const*> brought;
    int64_t present = 0;
    int64_t round = 0;  // goes up when all have come, and again when all are done
  };
  using Key = std::pair<const void*, std::vector<int64_t>>;

  void arrive(Table& table, std::unique_lock<std::mutex>& lock);
  void part(Table& table, std::unique_lock<std::mutex>& lock);
  bool complete(Table& table);  // counts one more; true for the last
  void check_progress();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, Table> tables_;
  int64_t inside_;       // devices that have not left
  int64_t waiting_ = 0;  // of those, the ones that wait at a table
  std::exception_ptr error_;
};

}  // namespace armillary
