// Lets time pass without stopping the loop.
#pragma once

#include <chrono>

#include "aio/task.h"

namespace mnet::aio {

// kCancelled when cancelled, even if that was before the call.
Task<void> sleep_until(Deadline when);
Task<void> sleep_for(std::chrono::steady_clock::duration time);

}  // namespace mnet::aio
