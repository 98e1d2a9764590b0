// Ends a socket operation that takes too long.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <utility>

#include "aio/task.h"

namespace mnet::http {

// Calls `bite` when the armed time has passed. One operation at a time. Once the watchdog is
// destroyed it calls nothing.
class Watchdog {
 public:
  Watchdog(const aio::asio::any_io_executor& executor, std::function<void()> bite)
      : timer_(executor), state_(std::make_shared<State>(State{std::move(bite)})) {}
  ~Watchdog() { state_->bite = nullptr; }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void arm(aio::Deadline at) {
    timer_.expires_at(at);
    const auto round = ++state_->round;
    state_->bitten = false;
    timer_.async_wait([state = state_, round](const boost::system::error_code& failure) {
      // A wait that ended just before arm() or disarm() cannot be recalled: `round` tells.
      if (failure || round != state->round || !state->bite) return;
      state->bitten = true;
      state->bite();
    });
  }
  void disarm() {
    ++state_->round;
    timer_.cancel();
  }
  // Whether it has called `bite` since it was last armed.
  bool bitten() const { return state_->bitten; }

 private:
  struct State {
    std::function<void()> bite;
    unsigned long round = 0;
    bool bitten = false;
  };

  aio::asio::steady_timer timer_;
  std::shared_ptr<State> state_;
};

}  // namespace mnet::http
