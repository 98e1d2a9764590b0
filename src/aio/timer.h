// Steady time as a parameter, so that tests choose how it passes (aio/fake_timer.h).
#pragma once

#include <chrono>

#include "aio/event.h"
#include "aio/task.h"

namespace mnet::aio {

class Timer {
 public:
  using Duration = std::chrono::steady_clock::duration;

  virtual ~Timer() = default;

  virtual Deadline now() const = 0;
  // kCancelled when cancelled, even if that was before the call.
  virtual Task<void> sleep_for(Duration time) = 0;
  // Waits for the event, which must outlive the task; kTimeout if it is not set in that time.
  virtual Task<void> wait_for(Event* event, Duration time) = 0;

  // The real timer; lives as long as the process.
  static Timer& steady();
};

}  // namespace mnet::aio
