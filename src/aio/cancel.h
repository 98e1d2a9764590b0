// Asking whether a task was cancelled, and work that a cancellation must not touch.
#pragma once

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <utility>

#include "aio/root.h"
#include "aio/task.h"

namespace mnet::aio {

// Whether this coroutine, or the one it was awaited by, was cancelled. Stays true. A cancel ends
// the operation it meets and no later one, so every loop asks.
inline asio::awaitable<bool> cancelled() {
  const auto state = co_await asio::this_coro::cancellation_state;
  co_return state.cancelled() != asio::cancellation_type::none;
}

// `Error(kCancelled, "cancelled")`, the same everywhere.
inline Error cancelled_error() { return Error(Errc::kCancelled, "cancelled"); }

// Runs `task` to its end whatever happens to the caller: inside it nothing is cancelled. The caller
// is; cancelled() tells it afterwards. The task carries a deadline of its own.
template <typename T>
Task<T> shielded(Task<T> task) {
  const auto executor = co_await asio::this_coro::executor;
  // A slot that nobody can signal.
  auto token = asio::bind_cancellation_slot(asio::cancellation_slot(), kAsValue);
  auto [thrown, result] = co_await asio::co_spawn(executor, root(std::move(task)), token);
  co_return std::move(result);
}

}  // namespace mnet::aio
