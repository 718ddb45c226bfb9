#include "xla_core/runtime/meeting.h"

#include <gtest/gtest.h>

#include "xla_core/base/error.h"
#include "xla_core/runtime/device_threads.h"

namespace armillary {
namespace {

// Runs `body` on each device as runtime.cc does, and returns the message of the first failure.
std::string run_devices(int64_t count, const std::function<void(MeetingRoom&, int64_t)>& body) {
  MeetingRoom room(count);
  run_side_by_side(count, [&](int64_t d) {
    try {
      body(room, d);
      room.leave();
    } catch (...) {
      room.fail(std::current_exception());
    }
  });
  try {
    room.rethrow();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

// Sums what all bring, often and in the same place: nobody may be lapped.
TEST(Meeting, RoundsDoNotMix) {
  constexpr int64_t kDevices = 8, kRounds = 500;
  const std::vector<int64_t> all = {0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<int64_t> wrong(kDevices, 0);
  const std::string failure = run_devices(kDevices, [&](MeetingRoom& room, int64_t d) {
    for (int64_t r = 0; r < kRounds; ++r) {
      int64_t mine = r * 100 + d, sum = 0;
      std::byte* buffers[] = {reinterpret_cast<std::byte*>(&mine)};
      room.meet(&all, all, d, buffers, [&](std::span<std::byte* const* const> brought) {
        for (std::byte* const* b : brought) sum += *reinterpret_cast<int64_t*>(b[0]);
      });
      wrong[d] += sum != kDevices * r * 100 + 28;
    }
  });
  EXPECT_EQ(failure, "");
  EXPECT_EQ(wrong, std::vector<int64_t>(kDevices, 0));
}

TEST(Meeting, WaitingForOneThatLeftIsAnError) {
  const std::vector<int64_t> all = {0, 1, 2};
  const std::string failure = run_devices(3, [&](MeetingRoom& room, int64_t d) {
    std::byte* none[] = {nullptr};
    if (d != 1) room.meet(&all, all, d, none, [](auto) {});
  });
  EXPECT_NE(failure.find("deadlock"), std::string::npos) << failure;
}

TEST(Meeting, WaitingInDifferentPlacesIsAnError) {
  const std::vector<int64_t> both = {0, 1};
  const int places[] = {0, 1};
  const std::string failure = run_devices(2, [&](MeetingRoom& room, int64_t d) {
    std::byte* none[] = {nullptr};
    room.meet(&places[d], both, d, none, [](auto) {});
  });
  EXPECT_NE(failure.find("deadlock"), std::string::npos) << failure;
}

TEST(Meeting, AFailureEndsAllWaits) {
  const std::vector<int64_t> all = {0, 1, 2, 3};
  const std::string failure = run_devices(4, [&](MeetingRoom& room, int64_t d) {
    if (d == 2) throw user_error("no luck on 2");
    std::byte* none[] = {nullptr};
    room.meet(&all, all, d, none, [](auto) {});
  });
  EXPECT_EQ(failure, "no luck on 2");
}

}  // namespace
}  // namespace armillary
