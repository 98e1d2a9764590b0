// Runs tasks under a deadline, or several side by side, as one task.
#pragma once

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "aio/cancel.h"
#include "aio/root.h"
#include "aio/task.h"

namespace mnet::aio {

namespace detail {

// Children of one coroutine. Shared with their completion handlers, because the parent's frame may
// be destroyed first when the loop is destroyed.
template <typename T>
struct Children {
  Children(const asio::any_io_executor& executor, std::size_t count)
      : timer(executor), signals(count), results(count), running(count) {}

  asio::steady_timer timer;
  std::vector<asio::cancellation_signal> signals;
  std::vector<Result<T>> results;
  std::size_t running;

  void cancel() {
    for (auto& signal : signals) signal.emit(asio::cancellation_type::terminal);
  }
};

template <typename T>
void start(const std::shared_ptr<Children<T>>& children, std::size_t index, Task<T> task) {
  auto done = [children, index](const std::exception_ptr&, Result<T> result) {
    children->results[index] = std::move(result);
    if (--children->running == 0) children->timer.cancel();
  };
  asio::co_spawn(children->timer.get_executor(), root(std::move(task)),
                 asio::bind_cancellation_slot(children->signals[index].slot(), std::move(done)));
}

// Waits until all have ended. Yields whether the deadline cancelled them. A cancel of the parent is
// passed on to them.
template <typename T>
asio::awaitable<bool> await_all(std::shared_ptr<Children<T>> children, Deadline deadline) {
  bool late = false;
  const bool cancelled_before = co_await cancelled();
  if (cancelled_before) children->cancel();
  while (children->running > 0) {
    children->timer.expires_at(late ? kNoDeadline : deadline);
    auto [ended] = co_await children->timer.async_wait(kAsValue);
    if (children->running == 0) break;
    if (!ended) late = true;
    children->cancel();
  }
  co_return late;
}

}  // namespace detail

// Cancels the task at the deadline, but ends only when the task has ended: with its value if it
// succeeded in spite of that, else with kTimeout. Cancelling cancels the task.
template <typename T>
Task<T> with_deadline(Task<T> task, Deadline deadline) {
  const auto executor = co_await asio::this_coro::executor;
  auto children = std::make_shared<detail::Children<T>>(executor, 1);
  detail::start(children, 0, std::move(task));
  const bool late = co_await detail::await_all(children, deadline);
  auto& result = children->results[0];
  if (late && !result) co_return Error(Errc::kTimeout, "deadline exceeded");
  co_return std::move(result);
}

// Runs all tasks side by side and ends when all have ended. Yields their results in the given
// order. Cancelling cancels all tasks that still run.
template <typename T>
asio::awaitable<std::vector<Result<T>>> all(std::vector<Task<T>> tasks) {
  const auto executor = co_await asio::this_coro::executor;
  auto children = std::make_shared<detail::Children<T>>(executor, tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) detail::start(children, i, std::move(tasks[i]));
  co_await detail::await_all(children, kNoDeadline);
  co_return std::move(children->results);
}

}  // namespace mnet::aio
