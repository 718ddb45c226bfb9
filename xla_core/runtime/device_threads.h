// Threads that stand for devices: unlike tasks of a pool they all run at once, since they wait for each
// other.
#pragma once

#include <cstdint>
#include <functional>

namespace armillary {

// body(0) on the calling thread, body(1) ... body(count - 1) on threads of their own; returns when all have
// returned. Bodies must not throw. Threads are kept for the next call.
void run_side_by_side(int64_t count, const std::function<void(int64_t)>& body);

}  // namespace armillary
