// Ends a socket operation that takes too long.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <utility>

#include "aio/task.h"

namespace mnet::http {

// Calls `bite` when an armed time passes. One operation at a time; nothing is called after the
// watchdog is gone.
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
      // A wait that ended just before it was armed anew cannot be taken back: `round` tells.
      if (failure || round != state->round || !state->bite) return;
      state->bitten = true;
      state->bite();
    });
  }
  void disarm() {
    ++state_->round;
    timer_.cancel();
  }
  // Whether it bit since it was armed last.
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
