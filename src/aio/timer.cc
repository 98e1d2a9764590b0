#include "aio/timer.h"

#include <chrono>

#include "aio/event.h"
#include "aio/sleep.h"
#include "aio/task.h"

namespace mnet::aio {
namespace {

class SteadyTimer final : public Timer {
 public:
  Deadline now() const override { return std::chrono::steady_clock::now(); }
  Task<void> sleep_for(Duration time) override { return aio::sleep_for(time); }
  Task<void> wait_for(Event* event, Duration time) override { return event->wait(now() + time); }
};

}  // namespace

Timer& Timer::steady() {
  static SteadyTimer timer;
  return timer;
}

}  // namespace mnet::aio
