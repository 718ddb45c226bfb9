#include "xla_core/runtime/meeting.h"

#include <algorithm>

#include "xla_core/base/error.h"

namespace armillary {

void MeetingRoom::meet(const void* place, std::span<const int64_t> members, int64_t device,
                       std::byte* const* buffers, const Work& work) {
  const auto rank = std::find(members.begin(), members.end(), device) - members.begin();
  ARM_CHECK(rank < static_cast<int64_t>(members.size()));
  std::unique_lock lock(mutex_);
  Table& table = tables_[Key(place, {members.begin(), members.end()})];
  table.brought.resize(members.size());
  table.brought[rank] = buffers;
  arrive(table, lock);
  lock.unlock();
  std::exception_ptr failure;
  try {
    work(table.brought);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  part(table, lock);
  if (failure) std::rethrow_exception(failure);
}

// The last to come lets the others go.
void MeetingRoom::arrive(Table& table, std::unique_lock<std::mutex>& lock) {
  if (error_) std::rethrow_exception(error_);
  const int64_t round = table.round;
  if (complete(table)) {
    waiting_ -= static_cast<int64_t>(table.brought.size()) - 1;
    return;
  }
  ++waiting_;
  check_progress();
  changed_.wait(lock, [&] { return table.round != round || error_; });
  if (table.round == round) std::rethrow_exception(error_);
}

// Waits even when a device has failed: others may still read what this one brought.
void MeetingRoom::part(Table& table, std::unique_lock<std::mutex>& lock) {
  const int64_t round = table.round;
  if (!complete(table)) changed_.wait(lock, [&] { return table.round != round; });
}

bool MeetingRoom::complete(Table& table) {
  if (++table.present < static_cast<int64_t>(table.brought.size())) return false;
  table.present = 0;
  ++table.round;
  changed_.notify_all();
  return true;
}

// Whoever is counted as waiting has no complete table: if that is everybody, nobody will ever come.
void MeetingRoom::check_progress() {
  if (error_ || inside_ == 0 || waiting_ < inside_) return;
  error_ =
      std::make_exception_ptr(user_error("deadlock: {} devices wait in a collective for devices that do not "
                                         "come (did they take different branches?)",
                                         waiting_));
  changed_.notify_all();
}

void MeetingRoom::leave() {
  std::lock_guard lock(mutex_);
  --inside_;
  check_progress();
}

void MeetingRoom::fail(std::exception_ptr error) {
  std::lock_guard lock(mutex_);
  --inside_;
  if (!error_) error_ = std::move(error);
  changed_.notify_all();
}

void MeetingRoom::rethrow() const {
  if (error_) std::rethrow_exception(error_);
}

}  // namespace armillary
