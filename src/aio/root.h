// The bottom of every started coroutine: what must hold for all that run above it. For the owners
// of coroutines inside aio.
#pragma once

#include <exception>
#include <utility>

#include "aio/task.h"
#include "base/text.h"

namespace mnet::aio {

// A cancellation is a value, not an exception; an exception is a defect of ours (kBug), fails this
// task and nothing else.
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
