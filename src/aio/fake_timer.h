// For tests: a timer whose waits end at once and whose time passes by its waits alone, however busy
// the machine is. It records how long they would have taken.
#pragma once

#include <boost/asio/post.hpp>
#include <chrono>
#include <cstddef>
#include <limits>
#include <vector>

#include "aio/cancel.h"
#include "aio/event.h"
#include "aio/task.h"
#include "aio/timer.h"
#include "base/error.h"

namespace mnet::aio {

class FakeTimer final : public Timer {
 public:
  // The first `most` waits end at once; the next one ends only when it is cancelled or its event
  // is set, so that an endless loop stands still while a test looks at it.
  explicit FakeTimer(std::size_t most = std::numeric_limits<std::size_t>::max()) : most_(most) {}

  Deadline now() const override { return now_; }
  Task<void> sleep_for(Duration time) override {
    Event never;
    auto waited = co_await wait_for(&never, time);
    if (!waited && waited.error().code() == Errc::kTimeout) co_return Result<void>();
    co_return waited;
  }
  Task<void> wait_for(Event* event, Duration time) override {
    const bool is_over = co_await cancelled();
    if (is_over) co_return cancelled_error();
    if (event->is_set()) co_return Result<void>();
    waits_.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(time));
    if (waits_.size() > most_) {
      co_return co_await event->wait();
    }
    now_ += time;
    // Other tasks get to run, as during a real wait.
    const auto executor = co_await asio::this_coro::executor;
    co_await asio::post(executor, asio::use_awaitable);
    if (event->is_set()) co_return Result<void>();
    co_return Error(Errc::kTimeout, "timed out");
  }

  // All waits so far, in order, including one that stands still.
  const std::vector<std::chrono::milliseconds>& waits() const { return waits_; }

 private:
  const std::size_t most_;
  Deadline now_ = std::chrono::steady_clock::now();
  std::vector<std::chrono::milliseconds> waits_;
};

}  // namespace mnet::aio
