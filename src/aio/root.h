// The bottom frame of every started coroutine: ensures what all tasks rely on. For code that starts
// coroutines, or that must go on whatever became of one.
#pragma once

#include <exception>
#include <utility>

#include "aio/task.h"
#include "base/text.h"

namespace mnet::aio {

// Makes a cancel a value, not an exception. Turns an exception, which is a defect of ours, into
// kBug: it fails this task and nothing else.
template <typename T>
Task<T> root(Task<T> task) {
  co_await asio::this_coro::throw_if_cancelled(false);
  try {
    co_return co_await std::move(task);
  } catch (const std::exception& thrown) {
    co_return Error(Errc::kBug, cat("unexpected exception: ", thrown.what()));
  } catch (...) {
    co_return Error(Errc::kBug, "unexpected exception");
  }
}

}  // namespace mnet::aio
