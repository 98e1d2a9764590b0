// Runs one task to its end on the calling thread: for tests, and for programs that do one thing.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "aio/root.h"
#include "aio/task.h"

namespace mnet::aio {

// On the given loop, together with all else that runs there. If the task waits for something that
// can never happen and nothing else keeps the loop busy, the outcome is kBug instead of a hang.
template <typename T>
Result<T> run(asio::io_context& loop, Task<T> task) {
  // Shared, because a task that never ends stays in the loop.
  const auto outcome = std::make_shared<std::optional<Result<T>>>();
  asio::co_spawn(loop, root(std::move(task)),
                 [outcome](const std::exception_ptr&, Result<T> result) {
                   outcome->emplace(std::move(result));
                 });
  loop.restart();
  while (!*outcome && loop.run_one() > 0) {
  }
  if (!*outcome) return Error(Errc::kBug, "the task never ended");
  return std::move(outcome->value());
}

// On a new loop.
template <typename T>
Result<T> run(Task<T> task) {
  asio::io_context loop(1);
  return run(loop, std::move(task));
}

}  // namespace mnet::aio
