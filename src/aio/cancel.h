// Tells whether a task was cancelled, and shields work that a cancel must not interrupt.
#pragma once

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <utility>

#include "aio/root.h"
#include "aio/task.h"

namespace mnet::aio {

// Whether this coroutine, or one that awaits it, was cancelled. Stays true. A cancel ends only the
// operation that is waiting at that moment and no later one, so every loop must ask.
inline asio::awaitable<bool> cancelled() {
  const auto state = co_await asio::this_coro::cancellation_state;
  co_return state.cancelled() != asio::cancellation_type::none;
}

// The error of every operation that was cancelled.
inline Error cancelled_error() { return Error(Errc::kCancelled, "cancelled"); }

// Runs `task` to its end even if the caller is cancelled: inside the task nothing is cancelled. The
// caller learns of its own cancel afterwards, from cancelled(). Give the task its own deadline.
template <typename T>
Task<T> shielded(Task<T> task) {
  const auto executor = co_await asio::this_coro::executor;
  // No signal belongs to this slot.
  auto token = asio::bind_cancellation_slot(asio::cancellation_slot(), kAsValue);
  auto [thrown, result] = co_await asio::co_spawn(executor, root(std::move(task)), token);
  co_return std::move(result);
}

}  // namespace mnet::aio
